/**
 * Measures the cost of 300 different custom resource definitions, 60 of them as large as a Pod template: the time until
 * each kind is served, the memory used, and the latency of requests for other kinds in the meantime.
 */
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { type Bench, fetchBytes, type Side } from '../servers.ts'
import { atMost, megabytes, quantile, type Row, short } from '../table.ts'
import { cpuOf, memoryOf } from '../usage.ts'
import { waitsDuring } from './stalls.ts'

const count = 300
/** Every definition whose number is a multiple of this number is as large as a Pod template. */
const largeEvery = 5
const group = 'many.example.com'
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const mega = 1024 ** 2
const restMs = 35_000

interface Schema {
  [member: string]: unknown
}

export const definitionRows = { name: 'custom-definitions', run: measure }

async function measure(bench: Bench): Promise<Row[]> {
  const directory = bench.newDirectory()
  const side = await bench.startOrch(directory)
  const bodies = await makeBodies(side)
  const client = await Client.connect(side)
  const idle = await waitsDuring(client, () => setTimeout(1000))
  const before = cpuOf(side.pid).main
  const times: number[] = []
  const waits = await waitsDuring(client, async () => {
    for (const [i, body] of bodies.entries()) times.push(await establish(client, i, body))
  })
  const cpu = ((cpuOf(side.pid).main - before) * 1000) / count
  const empty = await bench.startOrch(bench.newDirectory())
  const [full, none] = await Promise.all([own(side), own(empty)])
  client.close()
  await Promise.all([side.stop(), empty.stop()])
  const again = await bench.startOrch(directory)
  const restarted = await own(again)
  await again.stop()
  return [
    timeRow(times, cpu),
    memoryRow({ full, restarted, none }, bodies.reduce((sum, body) => sum + body.length, 0) / count),
    waitRow(waits, idle),
  ]
}

/**
 * Waits until the garbage from startup has been collected, which happens a few seconds after the server becomes idle.
 */
async function own(side: Side): Promise<number> {
  await fetchBytes(side, '/readyz')
  await setTimeout(restMs)
  return memoryOf(side.pid).own
}

async function establish(client: Client, i: number, body: string): Promise<number> {
  const began = performance.now()
  await client.send('POST', definitions, body)
  for (let tries = 0; ; tries++)
    try {
      await client.send('GET', `/apis/${group}/v1/kind${i}s`, '')
      return performance.now() - began
    } catch (error) {
      if (tries >= 1000) throw error
      await setTimeout(1)
    }
}

/** Returns the published schema of a Pod template with its references resolved. */
async function makeBodies(side: Side): Promise<string[]> {
  const published = JSON.parse((await fetchBytes(side, '/openapi/v2')).toString()) as { definitions: Schema }
  const templateName = Object.keys(published.definitions).find((name) => name.endsWith('.core.v1.PodTemplateSpec'))!
  const template = written(published.definitions[templateName] as Schema, published.definitions)
  return Array.from({ length: count }, (_, i) => definition(i, i % largeEvery === 0 ? template : smallSchema(i)))
}

/** Resolves references and keeps only what a structural schema may contain. */
function written(schema: Schema, all: Schema): Schema {
  const ref = schema.$ref as string | undefined
  if (ref !== undefined) return written(all[ref.slice('#/definitions/'.length)] as Schema, all)
  if (schema.format === 'int-or-string') return { 'x-orch-int-or-string': true }
  const { type = 'object', description, properties, items, additionalProperties } = schema
  const below = (each: unknown) => written(each as Schema, all)
  return {
    type,
    ...(description === undefined ? {} : { description }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties as Schema).map(([name, each]) => [name, below(each)]),
          ),
        }),
    ...(items === undefined ? {} : { items: below(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: below(additionalProperties) }),
  }
}

function smallSchema(i: number): Schema {
  const fields = Array.from({ length: 10 + (i % 7) }, (_, n) => [
    `field${i}x${n}`,
    n % 2 ? { type: 'string', maxLength: i + n, description: `Member ${n} of kind ${i}.` } : { type: 'integer' },
  ])
  return { type: 'object', properties: Object.fromEntries(fields) }
}

function definition(i: number, spec: Schema): string {
  const own = { type: 'string', enum: [`only-in-${i}`] }
  const schema = { type: 'object', properties: { spec, own, status: { type: 'object' } } }
  const names = { plural: `kind${i}s`, kind: `Kind${i}` }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }
  return JSON.stringify({
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [{ ...version, subresources: { status: {} } }] },
  })
}

function timeRow(times: readonly number[], cpu: number): Row {
  const median = quantile(times, 0.5)
  const large = quantile(
    times.filter((_, i) => i % largeEvery === 0),
    0.5,
  )
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  return {
    name: `until one of ${count} definitions is served`,
    ours: `${short(mean)} ms`,
    bare: '-',
    ...atMost(20, mean, 'ms'),
    note: `median ${short(median)} ms, of large ones ${short(large)} ms; ${short(cpu)} ms of the loop each`,
    figures: { ours: mean, median, large, cpu },
  }
}

function memoryRow({ full, restarted, none }: { full: number; restarted: number; none: number }, size: number): Row {
  const each = (restarted - none) / count
  return {
    name: `memory per definition, of ${count}`,
    ours: megabytes(each),
    bare: megabytes(size),
    ...atMost(0.3, each / mega, 'MB'),
    note: `bare: its JSON; after a restart, before it ${megabytes((full - none) / count)}`,
    figures: { ours: each, bare: size, before: (full - none) / count },
  }
}

function waitRow(waits: readonly number[], idle: readonly number[]): Row {
  const ours = quantile(waits, 0.99)
  const bare = quantile(idle, 0.99)
  return {
    name: `p99 of other requests while ${count} definitions come`,
    ours: `${short(ours)} ms`,
    bare: `${short(bare)} ms`,
    ...atMost(50, ours, 'ms'),
    note: `bare: the same server at rest; the longest wait ${short(Math.max(...waits))} ms`,
    figures: { ours, bare, longest: Math.max(...waits) },
  }
}

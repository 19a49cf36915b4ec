/**
 * Measures the cost of admission policies: creating a ConfigMap on a server whose policies evaluate it, or on a server
 * with many policies that do not match it, compared with a server without policies. Also measures the latency of reads
 * on a server with many policies.
 */
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { compare, compared, type Drive, http1, limits, type Rounds } from '../load.ts'
import { collection, objectJson } from '../objects.ts'
import type { Bench, Side } from '../servers.ts'
import type { Row } from '../table.ts'
import { creates } from './admission.ts'

const group = '/apis/admissionregistration.orch.io/v1'
const expression = "!has(object.data) || object.data.all(key, object.data[key] != 'forbidden')"
const concurrentWrites = 50
/** Many short rounds alternate between the two servers, because the differences are small. */
const shortRounds: Rounds = { seconds: 1, rounds: 10 }

/** Number of ConfigMaps that each server creates before the measurement. */
const warmUpCreates = 11_000

/** Pause in milliseconds before the measurement. During the pause, the server checks the types of the new policies. */
const restMs = 15_000

interface Policies {
  /** Resource that the policies match. */
  readonly resource: string
  readonly policies: number
  readonly bindings: number
}

const cases = [
  ['create, 10 matching policies', 0.4, { resource: 'configmaps', policies: 10, bindings: 10 }],
  ['create, 100 matching policies', 0.05, { resource: 'configmaps', policies: 100, bindings: 100 }],
  ['create, 1,000 other policies, 10,000 bindings', 0.9, { resource: 'secrets', policies: 1000, bindings: 10_000 }],
] as const

export const policyRows = {
  name: 'policies',
  async run(bench: Bench): Promise<Row[]> {
    const start = () => bench.startOrch(bench.newDirectory(), ['--emulated-version=1.36'])
    const drive = () => creates(collection, objectJson('NAME', 'TEXT'))
    const rows: Row[] = []
    for (const [name, bound, policies] of cases) {
      const [side, without] = [await start(), await start()]
      await install(side, policies)
      // Both servers create the same ConfigMaps before the measurement. Otherwise, V8 would still be compiling the code
      // for creates on one of them, and the compilation would cost more than the policies.
      for (const each of [side, without]) await fill(each, warmUpCreates)
      await setTimeout(restMs)
      rows.push(await row(name, bound, { side, drive: drive() }, { side: without, drive: drive() }))
      if (policies.resource === 'secrets') rows.push(await readRow(side, without))
      await side.stop()
      await without.stop()
    }
    return rows
  },
}

interface Loaded {
  readonly side: Side
  readonly drive: Drive
}

async function row(name: string, bound: number, ours: Loaded, bare: Loaded): Promise<Row> {
  const measured = await compare(ours, bare, shortRounds)
  const note = `beside no policies; p99 ${measured.ours.p99} and ${measured.bare.p99} ms; ${limits(measured.ours, measured.bare)}`
  return { name, ...compared(bound, measured.ours, measured.bare), note }
}

/** Measures GETs from 32 clients. Installed policies must not increase the 99th percentile of their latency. */
async function readRow(side: Side, without: Side): Promise<Row> {
  const drive = http1('/api/v1/namespaces/default', { connections: 32 })
  return await row('GET beside 1,000 policies', 0.9, { side, drive }, { side: without, drive })
}

async function install(side: Side, { resource, policies, bindings }: Policies): Promise<void> {
  const client = await Client.connect(side)
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] }]
  await inBatches(policies, (i) => {
    const spec = { matchConstraints: { resourceRules }, validations: [{ expression }] }
    return client.send('POST', `${group}/validatingadmissionpolicies`, body(`p${i}`, spec))
  })
  await inBatches(bindings, (i) => {
    const spec = { policyName: `p${i % policies}`, validationActions: ['Deny'] }
    return client.send('POST', `${group}/validatingadmissionpolicybindings`, body(`b${i}`, spec))
  })
  client.close()
}

/** Creates ConfigMaps. */
async function fill(side: Side, count: number): Promise<void> {
  const client = await Client.connect(side)
  await inBatches(count, (i) => client.send('POST', collection, objectJson(`f${i}`, expression)))
  client.close()
}

function body(name: string, spec: object): string {
  return JSON.stringify({ metadata: { name }, spec })
}

async function inBatches(count: number, write: (i: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += concurrentWrites)
    await Promise.all(Array.from({ length: Math.min(concurrentWrites, count - first) }, (_, i) => write(first + i)))
}

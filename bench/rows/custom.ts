/**
 * Compares custom objects with ConfigMaps that have the same members: creates, creates with CEL validation rules,
 * creates with 50 watches, and lists. Each kind has its own server.
 */

import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Client } from '../client.ts'
import { compare, compared, type Drive, http1, limits } from '../load.ts'
import { collection, nameOf, objectJson } from '../objects.ts'
import type { Bench, Side } from '../servers.ts'
import type { Row } from '../table.ts'

const script = join(import.meta.dirname, '../writes.lua')
const group = 'bench.example.com'
const watchers = 50
const listed = 2000

interface Subject {
  readonly path: string
  readonly body: (name: string, text: string) => string
}

const configMaps: Subject = { path: collection, body: objectJson }

/** Defines a custom resource whose objects are identical to ConfigMaps apart from their kind. */
function customKind(plural: string, kind: string): Subject {
  const apiVersion = `${group}/v1`
  return {
    path: `/apis/${apiVersion}/namespaces/default/${plural}`,
    body: (name, text) => JSON.stringify({ ...JSON.parse(objectJson(name, text)), apiVersion, kind }),
  }
}

const plain = customKind('plains', 'Plain')
const ruled = customKind('ruleds', 'Ruled')

function definition(plural: string, kind: string, rules: readonly object[]) {
  const data = { type: 'object', additionalProperties: { type: 'string', maxLength: 2000 }, maxProperties: 10 }
  const schema = { type: 'object', properties: { data: { ...data, 'x-orch-validations': rules } } }
  return JSON.stringify({
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
}

const rules = [{ rule: 'self.all(k, self[k].size() > 0)' }, { rule: "!has(self.other) || self.other.startsWith('a')" }]

/** Number of runs so far. Each run uses new names. */
let driven = 0

function creates({ path, body }: Subject): Drive {
  return (side, seconds) => {
    const scriptArgs = ['create', `r${driven++}-`, body('NAME', 'TEXT')]
    return http1(path, { connections: 16, script, scriptArgs })(side, seconds)
  }
}

export const customRows = {
  name: 'custom',
  async run(bench: Bench): Promise<Row[]> {
    const bare = await bench.startOrch(bench.newDirectory())
    const ours = await bench.startOrch(bench.newDirectory())
    const client = await Client.connect(ours)
    const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
    await client.send('POST', definitions, definition('plains', 'Plain', []))
    await client.send('POST', definitions, definition('ruleds', 'Ruled', rules))
    for (const { path } of [plain, ruled]) await untilServed(client, path)
    await fill(ours, plain)
    await fill(bare, configMaps)
    const sides = { ours, bare }
    const rows = [
      await row('LIST 2,000 of a custom kind, beside ConfigMap', sides, (subject) =>
        http1(subject.path, { connections: 4 }),
      ),
      await row('create of a custom kind, beside ConfigMap', sides, creates),
      await row('the same with two rules in CEL', sides, (subject) => creates(subject === plain ? ruled : subject)),
      await watchedRow(sides),
    ]
    client.close()
    await Promise.all([ours.stop(), bare.stop()])
    return rows
  },
}

interface Sides {
  readonly ours: Side
  readonly bare: Side
}

async function row(name: string, { ours, bare }: Sides, drive: (subject: Subject) => Drive): Promise<Row> {
  const measured = await compare({ side: ours, drive: drive(plain) }, { side: bare, drive: drive(configMaps) })
  return { name, ...compared(0.9, measured.ours, measured.bare), note: limits(measured.ours, measured.bare) }
}

async function watchedRow(sides: Sides): Promise<Row> {
  const watching = await Promise.all([watch(sides.ours, plain), watch(sides.bare, configMaps)])
  const measured = await row(`create of a custom kind that ${watchers} watches see, beside ConfigMap`, sides, creates)
  for (const client of watching) client.close()
  return measured
}

async function watch(side: Side, { path }: Subject): Promise<Client> {
  const client = await Client.connect(side)
  for (let i = 0; i < watchers; i++) await client.watch(`${path}?watch=1&resourceVersion=0`, () => {})
  return client
}

async function fill(side: Side, { path, body }: Subject): Promise<void> {
  const client = await Client.connect(side)
  for (let from = 0; from < listed; from += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => client.send('POST', path, body(nameOf(from + i), String(from + i)))),
    )
  client.close()
}

const tries = 100

async function untilServed(client: Client, path: string): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      return await client.send('GET', path, '')
    } catch (error) {
      if (i >= tries) throw error
      await setTimeout(100)
    }
  }
}

/**
 * Tests hostile defaults, which turn small inputs into large objects. Values that defaults add count toward the limits
 * on a body, so that the server neither runs out of memory nor blocks. Objects that were stored earlier remain
 * readable.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { UpgradedObjectCache } from '../../../src/apiserver/custom/objects/upgraded-object-cache.ts'
import { assertBrief } from '../../support/effort.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { collectionOf, define, definitionOf, definitions, typeOf, undefine } from './definitions.ts'

/** The goal is 50 ms. The limit is higher because the thread's CPU time includes compilation and garbage collection. */
const maxMs = 350

let server: InProcess
let client: HttpClient
before(async () => {
  server = await startInProcess()
  client = server.client
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^a$' } } }
  await undefine(client, await define(client, { schema }))
})
after(() => server.stop())

async function bounded<T>(run: () => Promise<T>): Promise<T> {
  return (await assertBrief(maxMs, run)).result
}

const objects = (count: number) => Array.from({ length: count }, () => ({}))

function listOf(items: JsonObject, count: number): JsonObject {
  return { type: 'array', items, default: objects(count) }
}

function about(properties: { [name: string]: JsonObject }): JsonObject {
  return { type: 'object', properties }
}

const leaf = about({ a: { type: 'string', default: 'x' } })
const thousand = {
  type: 'object',
  additionalProperties: leaf,
  default: Object.fromEntries(objects(1000).map((value, i) => [`k${i}`, value])),
}

const nulls = (items: JsonObject) => ({ type: 'array', items, default: objects(500).map(() => null) })

const tooMuch: readonly (readonly [string, JsonObject, string])[] = [
  [
    'three nested lists of 500 objects',
    about({ a: listOf(about({ b: listOf(about({ c: listOf(about({ d: thousand }), 500) }), 500) }), 500) }),
    'properties[a].default',
  ],
  [
    'three nested lists of 500 nulls with list defaults',
    about({ a: nulls(nulls(nulls({ type: 'string', default: 'x' }))) }),
    'properties[a].items',
  ],
  [
    '600 strings of 2 kB each',
    about({ a: listOf(about({ t: { type: 'string', default: 'x'.repeat(2000) } }), 600) }),
    '',
  ],
  [
    'a thousand sibling strings',
    about(
      Object.fromEntries(objects(1000).map((_, i) => [`p${i}`, { type: 'string', default: `${i}`.padEnd(1200, 'x') }])),
    ),
    '',
  ],
]

for (const [what, schema, place] of tooMuch)
  test(`a definition with ${what} as defaults is rejected`, async () => {
    const answer = await bounded(() => client.post(`${definitions}?dryRun=All`, definitionOf({ schema })))
    assert.equal(answer.status, 422, answer.text.slice(0, 500))
    const [{ field }] = answer.body.details.causes
    assert.ok(
      field.startsWith('spec.versions[0].schema.openAPIV3Schema.properties[') && field.endsWith('default'),
      field,
    )
    assert.ok(field.includes(place), field)
  })

const text = 'x'.repeat(10_000)
const plainItems = { type: 'array', items: about({ i: { type: 'integer' } }) }
const largeItems = {
  type: 'array',
  items: about({ i: { type: 'integer' }, t: { type: 'string', default: text } }),
}

test('a write that becomes too large through defaults is rejected with the path and does not block other requests', async () => {
  const schema = about({ spec: about({ list: largeItems }) })
  const name = await define(client, { schema })
  const send = (count: number): Promise<Answer> =>
    client.post(`${collectionOf()}?dryRun=All`, {
      ...typeOf(),
      metadata: { name: 'a' },
      spec: { list: objects(count) },
    })
  assert.equal((await bounded(() => send(100))).status, 201)
  const answer = await bounded(() => send(40_000))
  assert.equal(answer.status, 422, answer.text.slice(0, 500))
  assert.match(answer.body.details.causes[0].field, /^spec\.list\[\d+\]\.t$/)
  await undefine(client, name)
})

test('a write that becomes too large because defaults replace null values is rejected', async () => {
  for (const [list, place] of [
    [{ type: 'array', items: { type: 'string', default: text } }, /^spec\.list\[\d+\]$/],
    [{ type: 'object', additionalProperties: { type: 'string', default: text } }, /^spec\.list\.n\d+$/],
  ] as const) {
    const name = await define(client, { schema: about({ spec: about({ list }) }) })
    const send = (count: number): Promise<Answer> => {
      const nulls = objects(count).map(() => null)
      const sent = list.type === 'array' ? nulls : Object.fromEntries(nulls.map((none, i) => [`n${i}`, none]))
      return client.post(`${collectionOf()}?dryRun=All`, { ...typeOf(), metadata: { name: 'a' }, spec: { list: sent } })
    }
    const small = await bounded(() => send(2))
    assert.deepEqual([small.status, Object.values(small.body.spec.list)], [201, [text, text]])
    const answer = await bounded(() => send(40_000))
    assert.equal(answer.status, 422, answer.text.slice(0, 500))
    assert.match(answer.body.details.causes[0].field, place)
    await undefine(client, name)
  }
})

test('a stored object that new defaults would make too large is returned with a warning and without defaults', async () => {
  const name = await define(client, { schema: about({ spec: about({ list: plainItems }) }) })
  const path = collectionOf()
  for (const [object, count] of [
    ['small', 2],
    ['large', 1000],
  ] as const) {
    const made = await client.post(path, { ...typeOf(), metadata: { name: object }, spec: { list: objects(count) } })
    assert.equal(made.status, 201, made.text)
  }
  // The server reads a list in slices, and the large object is not in the first slice.
  const others = Array.from({ length: 600 }, (_, i) => ({ ...typeOf(), metadata: { name: `a${i}` } }))
  for (let i = 0; i < others.length; i += 100)
    await Promise.all(others.slice(i, i + 100).map((object) => client.post(path, object)))
  const { versions } = definitionOf({ schema: about({ spec: about({ list: largeItems }) }) }).spec
  const changed = await client.send(`${definitions}/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { versions } },
  })
  assert.equal(changed.status, 200, changed.text)
  // From this point on, the server serves the new definition.
  assert.equal((await client.post(path, { ...typeOf(), metadata: { name: 'x' }, spec: { list: [{}] } })).status, 201)

  const small = await client.get(`${path}/small`)
  assert.equal(small.body.spec.list[0].t, text)
  assert.equal(small.headers.warning, undefined)
  const listed = await bounded(() => client.get(path))
  for (const answer of [await bounded(() => client.get(`${path}/large`)), listed]) {
    assert.equal(answer.status, 200)
    assert.match(String(answer.headers.warning), /its schema defaults would make the object too large/)
  }
  const large = listed.body.items.find((item: { metadata: { name: string } }) => item.metadata.name === 'large')
  assert.equal(large.spec.list.length, 1000)
  assert.equal(large.spec.list[0].t, undefined)

  const body = { metadata: { labels: { a: 'b' } } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const patched = await client.send(`${path}/large`, { method: 'PATCH', headers, body })
  assert.equal(patched.status, 422, patched.text.slice(0, 500))
  assert.equal((await client.delete(`${path}/large`)).status, 200)
  assert.equal((await client.get(path)).headers.warning, undefined)
  await undefine(client, name)
})

test('listing many custom objects with many fields is fast, whether or not the fields are set', async () => {
  const many = (count: number, property: JsonObject) =>
    about(Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, property])))
  const wide = { type: 'array', items: many(6000, { type: 'string' }) }
  const deep = { type: 'array', items: many(3000, about({ a: { type: 'string', default: 'x' } })) }
  const name = await define(client, { schema: about({ wide, deep }) })
  const send = (body: JsonObject) =>
    bounded(() => client.post(`${collectionOf()}?dryRun=All`, { ...typeOf(), metadata: { name: 'a' }, ...body }))
  assert.equal((await send({ wide: objects(30_000) })).status, 201)
  assert.equal((await send({ deep: objects(30_000) })).status, 201)
  await undefine(client, name)
})

test('the cache of upgraded objects is bounded', () => {
  const forms = new UpgradedObjectCache()
  const stored = Array.from({ length: 70 }, (_, i) => Buffer.from(`${i}`))
  const mebibyte = Buffer.alloc(1024 * 1024)
  for (const json of stored) forms.set(json, mebibyte)
  assert.equal(forms.get(stored[0]!), undefined)
  assert.equal(forms.get(stored.at(-1)!), mebibyte)
  assert.equal(stored.filter((json) => forms.get(json) !== undefined).length, 64)
})

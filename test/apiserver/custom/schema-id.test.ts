/**
 * Tests that stored objects record the schema under which they were completed. If that schema is still in use, the
 * server returns the objects without parsing them. Otherwise, the server upgrades them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { encodeStored, HeaderReader } from '../../../src/api/codec/stored.ts'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { type ApiObject, asObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { Evolution, Kind, ReadyToStore } from '../../../src/api/schema/kind.ts'
import { type CustomKindDefinition, customKind } from '../../../src/apiserver/custom/objects/custom-kind.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'

const text = { type: 'string' }

async function kindOf(properties: JsonObject, more: Partial<CustomKindDefinition> = {}): Promise<Kind> {
  const schema = { type: 'object', properties }
  const names = { group: 'stable.example.com', version: 'v1', kind: 'Widget', plural: 'widgets' }
  const made = await customKind({ ...names, scope: 'Namespaced', schema, ...more }, vendorOf('orch'), { path: '' })
  assert.equal(made.outcome, 'kind', JSON.stringify(made))
  return (made as { kind: Kind }).kind
}

async function evolutionOf(properties: JsonObject, more?: Partial<CustomKindDefinition>): Promise<Evolution> {
  return (await kindOf(properties, more)).evolution!
}

function object(members: JsonObject, apiVersion = 'stable.example.com/v1'): ApiObject {
  return asObject({ apiVersion, kind: 'Widget', metadata: { name: 'a' }, ...members })
}

function store(evolution: Evolution, members: JsonObject, apiVersion?: string): ReadyToStore {
  return runToCompletion(evolution.store(object(members, apiVersion)))
}

test('a custom object that already has all defaults is stored unchanged and returned without parsing', async () => {
  const evolution = await evolutionOf({ spec: { type: 'object', properties: { a: { ...text, default: 'x' } } } })
  const expected = object({ spec: { a: 'y' } })
  const ready = runToCompletion(evolution.store(expected))
  assert.equal(ready.object, expected)
  assert.equal(ready.completeFor, evolution.schemaId)
  const unread = { json: Buffer.from('whatever this is'), completeFor: ready.completeFor }
  assert.equal(evolution.readJson(unread), unread.json)
  assert.equal(runToCompletion(evolution.readJsonSliced(unread)), unread.json)
})

test('a custom object that was stored under another or unknown schema is upgraded when it is read', async () => {
  const before = await evolutionOf({ a: text, b: text })
  const after = await evolutionOf({ a: text, c: { ...text, default: 'x' } })
  const { completeFor } = store(before, { a: '1', b: '2' })
  const json = Buffer.from(JSON.stringify(object({ a: '1', b: '2' })))
  for (const said of [completeFor, undefined, ''])
    assert.deepEqual(JSON.parse(String(after.readJson({ json: Buffer.from(json), completeFor: said }))), {
      ...object({ a: '1', c: 'x' }),
    })
})

test('the ID of a schema depends only on the keywords that affect stored objects', async () => {
  const { schemaId } = await evolutionOf({ a: text })
  const same = await evolutionOf({ a: text }, { id: 'another uid/7', columns: [], shortNames: ['w'], status: true })
  assert.equal(same.schemaId, schemaId)
  const others = [await evolutionOf({ a: { ...text, default: '' } }), await evolutionOf({ a: text }, { version: 'v2' })]
  for (const other of others) assert.notEqual(other.schemaId, schemaId)
})

test('the default status of a custom object is set before the object is stored', async () => {
  const evolution = await evolutionOf(
    { status: { type: 'object', properties: { phase: text }, default: { phase: 'New' } } },
    { status: true },
  )
  const { object: stored, completeFor } = store(evolution, {})
  assert.deepEqual(stored.status, { phase: 'New' })
  assert.equal(completeFor, evolution.schemaId)
})

test('a custom object without the defaults of the storage version is not marked as complete', async () => {
  const versions = new Map<string, Evolution>()
  const storage = await kindOf({ a: text, b: { ...text, default: 'x' } }, { versions })
  const other = await evolutionOf({ a: text }, { version: 'v2', versions, storage })
  const ready = store(other, { a: '1' }, 'stable.example.com/v2')
  assert.deepEqual(ready.object, object({ a: '1' }))
  assert.equal(ready.completeFor, undefined)
})

test('a custom object is not marked as complete if its defaults would make it too large', async () => {
  const items = { type: 'object', properties: { a: { ...text, default: 'x'.repeat(1000) } } }
  const evolution = await evolutionOf({ list: { type: 'array', items } })
  const list = Array.from({ length: 8000 }, () => ({}))
  const ready = store(evolution, { list })
  assert.ok(isDeepStrictEqual(ready.object, object({ list })))
  assert.equal(ready.completeFor, undefined)
})

test('the server never uses the cached header of one stored object for another object', () => {
  const reader = new HeaderReader()
  const metadata = { name: 'a', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' }
  const stored = { object: { ...object({}), metadata }, order: undefined }
  const said = (header: object) => reader.read('key', encodeStored('key', { ...stored, header })).completeFor
  const labels = { a: 'b' }
  assert.equal(said({ completeFor: 'one' }), 'one')
  assert.equal(said({ completeFor: 'two' }), 'two')
  assert.equal(said({}), undefined)
  assert.equal(said({ labels, completeFor: 'one' }), 'one')
  assert.equal(said({ labels }), undefined)
})

/**
 * Expected results of reading with a schema that uses all features. If they change, increment `reading` in
 * `schema-id.ts`.
 */
const madeOf: readonly (readonly [Json, Json])[] = [
  [{}, { filled: { deep: 'x', list: [{ n: 1 }] } }],
  [{ filled: {} }, { filled: { deep: 'x' } }],
  [{ filled: { list: [{}, { n: 2 }], unknown: 1 } }, { filled: { deep: 'x', list: [{ n: 1 }, { n: 2 }] } }],
  [{ open: { a: 1, known: null } }, { open: { a: 1 } }],
  [
    { any: { a: [{}] }, port: 80, map: { a: 'b', c: null } },
    { any: { a: [{}] }, port: 80, map: { a: 'b' } },
  ],
  [
    { nullable: null, text: null, number: 1e3, list: [null] },
    { nullable: null, number: 1000, list: [null] },
  ],
  [
    { nested: { metadata: { name: 'a', odd: 1 }, spec: 'a', odd: 1 } },
    { nested: { metadata: { name: 'a' }, spec: 'a' } },
  ],
]

test('reading a stored object applies the defaults of its schema and prunes unknown fields', async () => {
  const preserve = { 'x-orch-preserve-unknown-fields': true }
  const n = { type: 'object', properties: { n: { type: 'integer', default: 1 } } }
  const evolution = await evolutionOf({
    filled: {
      type: 'object',
      default: { list: [{}] },
      properties: { deep: { ...text, default: 'x' }, list: { type: 'array', items: n } },
    },
    open: { type: 'object', ...preserve, properties: { known: text } },
    any: preserve,
    port: { 'x-orch-int-or-string': true },
    map: { type: 'object', additionalProperties: text },
    nullable: { ...text, nullable: true },
    text,
    number: { type: 'number' },
    list: { type: 'array', items: text },
    nested: { type: 'object', 'x-orch-embedded-resource': true, properties: { spec: text } },
  })
  const always = { filled: { deep: 'x', list: [{ n: 1 }] } }
  for (const [sent, made] of madeOf) {
    const json = Buffer.from(JSON.stringify(object(sent as JsonObject)))
    const shown = JSON.parse(String(evolution.readJson({ json })))
    assert.deepEqual(shown, { ...object({ ...always, ...(made as JsonObject) }) }, JSON.stringify(sent))
  }
})

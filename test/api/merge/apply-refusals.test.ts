/**
 * Tests apply requests that are rejected with a 400 or 422 error that names the field, and the contents of conflict
 * errors.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../../../src/api/codec/json.ts'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { applyObject } from '../../../src/api/merge/apply.ts'
import { applyConflict } from '../../../src/api/merge/conflicts.ts'
import { ApiError } from '../../../src/api/model/api-error.ts'
import { type ApiObject, asObject } from '../../../src/api/model/object.ts'
import { decode } from '../../../src/api/schema/decode.ts'
import { field, type ObjectSchema, s } from '../../../src/api/schema/schema.ts'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { emptyObject, emptyWorld, kindOf, take, vendor } from './world.ts'

const item = s.object({ name: field(1, s.string()), port: field(2, s.int32()) })
const thing = kindOf({
  data: field(2, s.map(s.string())),
  tags: field(3, s.list(s.string(), { list: 'set' })),
  items: field(4, s.list(item, { list: 'map', keys: ['name'] })),
  steps: field(5, s.list(item)),
  free: field(6, s.any({ granular: true })),
})

interface Situation {
  readonly live?: ApiObject
  readonly schema?: ObjectSchema
  readonly emulated?: EmulatedVersion
}

function apply(config: Json, { live, schema = thing, emulated }: Situation = {}) {
  const writer = { name: 'a', apiVersion: 'v1', subresource: '', time: '2030-01-01T00:00:00Z' }
  const empty = emptyObject(schema)
  return applyObject({ schema, vendor, empty, live, config, writer, force: false, readOnly: [], emulated })
}

const head = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x' } }

const refusals: readonly (readonly [title: string, config: Json, message: RegExp])[] = [
  ['a list in place of an object', [1], /must be an object/],
  ['no version', { kind: 'Thing' }, /Specified patch version: , expected: v1/],
  ['another version', { ...head, apiVersion: 'v2' }, /Specified patch version: v2, expected: v1/],
  ['managedFields', { ...head, metadata: { name: 'x', managedFields: [] } }, /managedFields must be nil/],
  ['an unknown field', { ...head, colour: 'red' }, /unknown field "colour"/],
  ['an unknown nested field', { ...head, items: [{ name: 'a', colour: 'red' }] }, /"items\[0\].colour"/],
  ['a string in place of a map', { ...head, data: 'x' }, /^data: expected object, got string/],
  ['a list in place of metadata', { ...head, metadata: [] }, /^metadata: expected object, got array/],
  ['an object in place of a set', { ...head, tags: {} }, /^tags: expected array, got object/],
  ['a set with a null', { ...head, tags: [null] }, /^tags\[0\]: a set element must be a scalar, got null/],
  ['a set with an object', { ...head, tags: [{}] }, /^tags\[0\]: .* got object/],
  ['a set with duplicates', { ...head, tags: ['a', 'b', 'a'] }, /^tags\[2\]: duplicate entry for \[="a"\]/],
  ['an element that is null', { ...head, items: [null] }, /^items\[0\]: expected object, got null/],
  ['an element whose key is an object', { ...head, items: [{ name: {} }] }, /^items\[0\].name: .* scalar/],
  [
    'elements with the same key',
    { ...head, items: [{ name: 'a' }, { name: 'a' }] },
    /^items\[1\]: duplicate .*name="a"/,
  ],
]

for (const [title, config, message] of refusals)
  test(`an apply is rejected: ${title}`, () => {
    assert.throws(
      () => apply(config),
      (error) => error instanceof ApiError && error.code === 400 && message.test(error.message),
    )
  })

test('an apply of a list element without its key is rejected unless the schema treats a missing key as empty', () => {
  const keyless = (error: unknown) =>
    error instanceof ApiError && error.code === 422 && error.details?.causes?.[0]?.field === 'items[1].name'
  assert.throws(() => apply({ ...head, items: [{ name: 'a' }, { port: 1 }] }), keyless)
  const stored = asObject(decode(thing, { ...head, items: [{ name: 'a' }, { name: '' }] }).value)
  assert.throws(() => apply({ ...head, data: { a: 'b' } }, { live: stored }), keyless)

  const written = s.object({ name: field(1, s.string(), { zeroValue: 'write' }), port: field(2, s.int32()) })
  const kind = kindOf({ items: field(4, s.list(written, { list: 'map', keys: ['name'] })) })
  assert.equal(apply({ ...head, items: [{ port: 1 }] }, { schema: kind }).outcome, 'applied')
})

test('before 1.29, an apply is rejected if the live object contains duplicate elements', () => {
  const stored = (fields: JsonObject) => asObject(decode(thing, { ...head, ...fields }).value)
  const config = { ...head, data: { a: 'b' } }
  const faults: readonly (readonly [live: ApiObject, path: string])[] = [
    [stored({ items: [{ name: 'a' }, { name: 'b' }, { name: 'a', port: 1 }] }), 'items[2]'],
    [stored({ tags: ['x', 'x'] }), 'tags[1]'],
  ]
  for (const [live, path] of faults) {
    assert.throws(
      () => apply(config, { live, emulated: '1.28' }),
      (error) => error instanceof ApiError && error.code === 422 && error.details?.causes?.[0]?.field === path,
    )
    assert.equal(apply(config, { live, emulated: '1.29' }).outcome, 'applied')
  }
  const atomic = stored({ steps: [{ name: 'a' }, { name: 'a' }] })
  assert.equal(apply(config, { live: atomic, emulated: '1.28' }).outcome, 'applied')
})

test('decoding the merged object of an apply detects scalars and atomic values of the wrong type', () => {
  for (const wrong of [{ data: { k: 1 } }, { steps: [{ port: 'x' }] }]) {
    const applied = apply({ ...head, ...wrong })
    assert.equal(applied.outcome, 'applied')
    if (applied.outcome === 'applied') assert.throws(() => decode(thing, applied.object), /expected/)
  }
})

test('apply accepts JSON that is as deeply nested as the parser allows', () => {
  const depth = 500
  const text = `{"apiVersion":"v1","kind":"Thing","metadata":{"name":"x"},"free":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
  assert.equal(apply(parseJson(Buffer.from(text)).value).outcome, 'applied')
})

test("an apply conflict reports the owner, the time of the owner's last change, both values and possible resolutions", () => {
  const created = take(emptyWorld(thing), { by: 'a "b"', apply: { data: { k: '1' }, items: [{ name: 'i', port: 1 }] } })
  const { conflicts } = take(created, { by: 'c', apply: { data: { k: '2' }, items: [{ name: 'i', port: 2 }] } })
  const error = applyConflict(conflicts)
  assert.equal(error.code, 409)
  assert.equal(error.reason, 'Conflict')
  const who = 'conflict with "a \\"b\\"": owned since 2030-01-01T00:00:01Z'
  assert.deepEqual(error.details?.causes, [
    { reason: 'FieldManagerConflict', field: '.data.k', message: `${who}, is "1", asked for "2"` },
    { reason: 'FieldManagerConflict', field: '.items[name="i"].port', message: `${who}, is 1, asked for 2` },
  ])
  assert.match(error.message, /^Apply failed with 2 conflicts: conflicts with "a \\"b\\"":\n- \.data\.k \(owned since/)
  assert.match(error.message, /force=true/)
})

test('an apply conflict about a Secret discloses no values', () => {
  const created = take(emptyWorld(thing), { by: 'a', apply: { data: { k: 'hush' } } })
  const { conflicts } = take(created, { by: 'b', apply: { data: { k: 'loud' } } })
  const error = applyConflict(conflicts, { hideValues: true })
  assert.doesNotMatch(JSON.stringify([error.message, error.details]), /hush|loud/)
})

/** Tests the completion of objects: defaults, unknown fields, and conversion to the stored version. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { defineKind, defineVersion, type Kind, type ObjectOf } from '../../../src/api/schema/kind.ts'
import { decodeStoredSliced, normalizeSliced, refillDefaults } from '../../../src/api/schema/normalize.ts'
import { field, s } from '../../../src/api/schema/schema.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'

const fields = {
  size: field(2, s.int32(), { default: 3 }),
  double: field(3, s.int32()),
  title: field(4, s.string()),
}
const box = defineKind({
  names: { group: 'core', version: 'v2', kind: 'Box', plural: 'boxes', scope: 'Cluster' },
  doc: 'A box.',
  fields,
  rules: {
    fillDefaults: (object) => {
      object.double ??= (object.size ?? 0) * 2
      object.title = object.metadata.name ?? ''
    },
  },
})

const olderFields = { width: field(2, s.int32()) }
const older = defineVersion(box, {
  version: 'v1',
  fields: olderFields,
  fromStored: ({ size = 0, ...rest }: ObjectOf<typeof fields>) => ({ ...rest, width: size }),
  toStored: ({ width, ...rest }: ObjectOf<typeof olderFields>) => ({ ...rest, ...(width && { size: width }) }),
})

const typeOf = (kind: Kind) => ({
  kind,
  apiVersion: kind.version,
  context: { vendor: vendorOf('orch'), subresource: '' },
})
const stored = typeOf(box)
const whole = (value: JsonObject) =>
  runToCompletion(normalizeSliced(stored, { apiVersion: 'v2', kind: 'Box', ...value }))

test('schema defaults are applied before the defaults that a kind computes from other fields', () => {
  const { object } = whole({ metadata: { name: 'a' } })
  assert.deepEqual([object.size, object.double, object.title], [3, 6, 'a'])
})

test('unknown fields are dropped and reported, and duplicate owner references are merged', () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }
  const other = { ...owner, controller: true }
  const { object, unknown, ownersRepeated } = whole({ metadata: { ownerReferences: [owner, other, owner] }, x: 1 })
  assert.deepEqual(unknown, ['x'])
  assert.equal(object.x, undefined)
  assert.equal(ownersRepeated, true)
  assert.deepEqual(object.metadata.ownerReferences, [owner, other])
  assert.equal(whole({ metadata: { ownerReferences: [owner, other] } }).ownersRepeated, false)
})

test('a value of the wrong type is rejected, and the error contains the path', () => {
  assert.throws(() => whole({ size: 'x' }), { code: 400, message: /^size: / })
})

test('defaults that depend on the name of an object are applied again after the name is generated', () => {
  const { object } = whole({ metadata: { generateName: 'a-' } })
  object.metadata.name = 'a-12345'
  refillDefaults(stored, object)
  assert.equal(object.title, 'a-12345')
})

test('an object in another API version gets its defaults after conversion to the stored version', () => {
  const version = { ...typeOf(older), stored }
  const sent = runToCompletion(
    normalizeSliced(version, { apiVersion: 'v1', kind: 'Box', metadata: { name: 'a' }, width: 5 }),
  )
  const { apiVersion, size, double } = runToCompletion(decodeStoredSliced(version, sent.object))
  assert.deepEqual([apiVersion, size, double], ['v2', 5, 10])
  const empty = runToCompletion(normalizeSliced(version, { apiVersion: 'v1', kind: 'Box', metadata: { name: 'a' } }))
  assert.deepEqual(runToCompletion(decodeStoredSliced(version, empty.object)).size, 3)
})

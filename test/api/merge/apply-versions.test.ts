/** Tests field ownership by managers that write an object through API versions with different structures. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { type Applied, applyObject } from '../../../src/api/merge/apply.ts'
import type { OtherVersions } from '../../../src/api/merge/change.ts'
import { pathText } from '../../../src/api/merge/path-elements.ts'
import { trackUpdate } from '../../../src/api/merge/track-update.ts'
import { type ApiObject, asObject } from '../../../src/api/model/object.ts'
import { field, type ObjectSchema, s } from '../../../src/api/schema/schema.ts'
import { slicedValue } from '../../../src/base/concurrency/time-slice.ts'
import { emptyObject, kindOf, vendor } from './world.ts'

// In v1, the size is a field of the object. In v2, the size is a field of the spec. v0 no longer exists.
const v1 = kindOf({ size: field(2, s.int32()), note: field(3, s.string()) })
const v2 = kindOf({ spec: field(2, s.object({ size: field(1, s.int32()), note: field(2, s.string()) })) })

const versions: OtherVersions = {
  schemaOf: (apiVersion) => ({ v1, v2 })[apiVersion],
  convert: (object, apiVersion) => slicedValue(inVersion(object, apiVersion)),
}

function inVersion(object: JsonObject, apiVersion: string): JsonObject {
  return apiVersion === 'v1' ? toV1(object) : toV2(object)
}

function toV1(object: JsonObject): JsonObject {
  if (object.apiVersion === 'v1') return object
  const { spec, ...rest } = object
  return { ...rest, ...(spec as JsonObject | undefined), apiVersion: 'v1' }
}

function toV2(object: JsonObject): JsonObject {
  if (object.apiVersion === 'v2') return object
  const { size, note, ...rest } = object
  const spec = { ...(size === undefined ? {} : { size }), ...(note === undefined ? {} : { note }) }
  return { ...rest, ...(Object.keys(spec).length === 0 ? {} : { spec }), apiVersion: 'v2' }
}

function apply(live: ApiObject | undefined, name: string, fields: JsonObject): Applied {
  const apiVersion = String(fields.apiVersion)
  const schema: ObjectSchema = apiVersion === 'v1' ? v1 : v2
  const converted = live && inVersion(live as unknown as JsonObject, apiVersion)
  return applyObject({
    schema,
    vendor,
    empty: emptyObject(schema),
    live: converted && asObject(converted),
    config: { kind: 'Thing', metadata: { name: 'x' }, ...fields },
    writer: { name, apiVersion, subresource: '', time: '2030-01-01T00:00:00Z' },
    force: false,
    readOnly: [],
    versions,
  })
}

function applied(live: ApiObject | undefined, name: string, fields: JsonObject): ApiObject {
  const result = apply(live, name, fields)
  assert.equal(result.outcome, 'applied')
  if (result.outcome !== 'applied') throw new Error('unreachable')
  const object = asObject(result.object)
  return { ...object, metadata: { ...object.metadata, managedFields: [...result.managedFields] } }
}

test('an apply conflict is detected and reported in the API version that the other manager used', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v1', size: 1 })
  const result = apply(live, 'b', { apiVersion: 'v2', spec: { size: 2 } })
  assert.equal(result.outcome, 'conflict')
  if (result.outcome !== 'conflict') return
  const told = result.conflicts.map(({ path, live, requested: asked }) => [pathText(path), live, asked])
  assert.deepEqual(told, [['.size', 1, 2]])
})

test('managers that apply equal values through different API versions share the ownership of the field', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v1', size: 1 })
  const both = applied(live, 'b', { apiVersion: 'v2', spec: { size: 1 } })
  assert.deepEqual(
    both.metadata.managedFields?.map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, fieldsV1]),
    [
      ['a', 'v1', { 'f:size': {} }],
      ['b', 'v2', { 'f:spec': { 'f:size': {} } }],
    ],
  )
})

test('fields that a manager applied through another API version and no longer applies are removed', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v1', size: 1, note: 'n' })
  const moved = applied(live, 'a', { apiVersion: 'v2', spec: { size: 1 } })
  assert.deepEqual(moved.spec, { size: 1 })
  assert.deepEqual(
    moved.metadata.managedFields?.map(({ apiVersion }) => apiVersion),
    ['v2'],
  )
})

test('fields that another manager owns through another API version are kept', () => {
  const first = applied(undefined, 'a', { apiVersion: 'v1', size: 1, note: 'n' })
  const both = applied(first, 'b', { apiVersion: 'v2', spec: { note: 'n' } })
  const left = applied(both, 'a', { apiVersion: 'v1' })
  assert.deepEqual([left.size, left.note], [undefined, 'n'])
})

test('the next change to an object removes the managed fields entries whose API version no longer exists', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v1', size: 1 })
  const [entry] = live.metadata.managedFields!
  const old = { ...live, metadata: { ...live.metadata, managedFields: [{ ...entry!, apiVersion: 'v0' }] } }
  const next = applied(old, 'b', { apiVersion: 'v1', size: 2 })
  assert.deepEqual(
    next.metadata.managedFields?.map(({ manager }) => manager),
    ['b'],
  )
})

/**
 * Replaces the object like a PUT in the API version of the given fields. The new field ownership is derived from the
 * changes.
 */
function put(live: ApiObject, name: string, fields: JsonObject): ApiObject {
  const apiVersion = String(fields.apiVersion)
  const schema: ObjectSchema = apiVersion === 'v1' ? v1 : v2
  const before = asObject(inVersion(live as unknown as JsonObject, apiVersion))
  const { managedFields: _, ...metadata } = before.metadata
  const after = asObject({ kind: 'Thing', metadata: metadata as unknown as JsonObject, ...fields })
  const writer = { name, apiVersion, subresource: '', time: '2030-01-01T00:00:01Z' }
  const managers = trackUpdate({ schema, before, after, writer, readOnly: [], create: false, versions })
  return { ...after, metadata: { ...metadata, ...(managers ? { managedFields: managers } : {}) } }
}

function owners({ metadata }: ApiObject) {
  return metadata.managedFields?.map(({ manager, apiVersion, fieldsV1 }) => [manager, apiVersion, fieldsV1])
}

test('an update takes over the ownership of changed fields from managers that used other API versions', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v1', size: 1, note: 'n' })
  assert.deepEqual(owners(put(live, 'b', { apiVersion: 'v2', spec: { size: 2, note: 'n' } })), [
    ['a', 'v1', { 'f:note': {} }],
    ['b', 'v2', { 'f:spec': { 'f:size': {} } }],
  ])
})

test('an update that removes a field also removes the ownership of the field by managers that used other API versions', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v2', spec: { size: 1, note: 'n' } })
  assert.deepEqual(owners(put(live, 'b', { apiVersion: 'v1', size: 1 })), [['a', 'v2', { 'f:spec': { 'f:size': {} } }]])
})

test('a manager that updates an object has one managed fields entry per API version, which lists the fields that it still owns', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v1', size: 1 })
  const first = put(live, 'b', { apiVersion: 'v1', size: 2, note: 'n' })
  assert.deepEqual(owners(put(first, 'b', { apiVersion: 'v2', spec: { size: 3, note: 'n' } })), [
    ['b', 'v1', { 'f:note': {} }],
    ['b', 'v2', { 'f:spec': { 'f:size': {} } }],
  ])
})

test('an update that changes nothing keeps the field ownership of all managers', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v1', size: 1 })
  assert.deepEqual(owners(put(live, 'b', { apiVersion: 'v2', spec: { size: 1 } })), owners(live))
})

test('an update removes the field ownership of managers whose API version no longer exists', () => {
  const live = applied(undefined, 'a', { apiVersion: 'v1', size: 1 })
  const [entry] = live.metadata.managedFields!
  const old = { ...live, metadata: { ...live.metadata, managedFields: [{ ...entry!, apiVersion: 'v0' }] } }
  assert.deepEqual(owners(put(old, 'b', { apiVersion: 'v1', size: 2 })), [['b', 'v1', { 'f:size': {} }]])
})

/**
 * Tests that no client input makes merging take quadratic time. The tests compare CPU times, and use the best time of a
 * few runs. Input that is eight times as large may take up to thirty times as long. A quadratic algorithm would take
 * sixty-four times as long.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { applyObject } from '../../../src/api/merge/apply.ts'
import { applyConflict } from '../../../src/api/merge/conflicts.ts'
import { applyStrategicMergePatch } from '../../../src/api/merge/strategic-merge-patch.ts'
import { trackUpdate } from '../../../src/api/merge/track-update.ts'
import { ApiError } from '../../../src/api/model/api-error.ts'
import type { ApiObject, ManagedFieldsEntry } from '../../../src/api/model/object.ts'
import { field, s } from '../../../src/api/schema/schema.ts'
import { assertBelow, cpuMs } from '../../support/effort.ts'
import { emptyObject, kindOf, timeAt, vendor } from './world.ts'

const item = s.object({ name: field(1, s.string()), image: field(2, s.string()), env: field(3, s.map(s.string())) })
const thing = kindOf({
  data: field(2, s.map(s.string())),
  items: field(3, s.list(item, { list: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' })),
})
const writer = { name: 'w', apiVersion: 'v1', subresource: '', time: timeAt(9) }

function many<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

function dataOf(count: number, value: string): JsonObject {
  return Object.fromEntries(many(count, (i) => [`k${i}`, value]))
}

function objectOf(fields: JsonObject, managedFields: ManagedFieldsEntry[] = []): ApiObject {
  return { ...fields, apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x', managedFields } } as ApiObject
}

function entries(count: number, operation: 'Apply' | 'Update', fields: (i: number) => JsonObject) {
  return many(count, (i) => ({
    manager: `m${i}`,
    operation,
    apiVersion: 'v1',
    time: timeAt(1),
    fieldsType: 'FieldsV1',
    fieldsV1: fields(i),
  }))
}

function apply(live: ApiObject, fields: JsonObject) {
  const config: Json = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x' }, ...fields }
  return applyObject({
    schema: thing,
    vendor,
    empty: emptyObject(thing),
    live,
    config,
    writer,
    force: false,
    readOnly: [],
  })
}

function conflictsAmong(count: number): ApiError {
  const items = (image: string) => ({ items: many(count, (i) => ({ name: `c${i}`, image })) })
  const owned = many(count, (i): [string, Json] => [`k:{"name":"c${i}"}`, { '.': {}, 'f:image': {} }])
  const live = objectOf(
    items('a'),
    entries(1, 'Apply', () => ({ 'f:items': Object.fromEntries(owned) })),
  )
  const applied = apply(live, items('b'))
  assert.ok(applied.outcome === 'conflict')
  assert.equal(applied.conflicts.length, count)
  return applyConflict(applied.conflicts)
}

const keyOf = (i: number) => ({ 'f:data': { [`f:k${i}`]: {} } })

const works: { readonly [what: string]: (size: number) => unknown } = {
  'conflicts about the elements of a list': (size) => conflictsAmong(size),
  'merging updaters': (size) =>
    trackUpdate({
      schema: thing,
      before: objectOf({ data: { a: '1' } }),
      after: objectOf({ data: { a: '2' } }, entries(size, 'Update', keyOf)),
      writer,
      readOnly: [],
      create: false,
    }),
  'a large change with many managers': (size) =>
    trackUpdate({
      schema: thing,
      before: objectOf({ data: { ...dataOf(size, 'a') } }),
      after: objectOf(
        { data: { ...dataOf(2 * size, 'b') } },
        entries(size, 'Apply', () => ({ 'f:data': { 'f:z': {} } })),
      ),
      writer,
      readOnly: [],
      create: false,
    }),
  'an apply with fewer fields and many managers': (size) => {
    const mine = { ...entries(1, 'Apply', () => ({ 'f:data': { 'f:x': {}, 'f:y': {} } }))[0]!, manager: 'w' }
    const live = objectOf({ data: { ...dataOf(size, 'a'), x: '', y: '' } }, [...entries(size, 'Apply', keyOf), mine])
    return apply(live, { data: { x: '' } })
  },
}

function cost(work: (size: number) => unknown, size: number): number {
  return Math.min(...many(3, () => cpuMs(() => work(size))))
}

for (const [what, work] of Object.entries(works))
  test(`the cost of a patch or apply grows linearly: ${what}`, async () => {
    work(500)
    await assertBelow(30, 'times as much for 8,000 as for 1,000', () => cost(work, 8000) / cost(work, 1000))
  })

test('the error for thousands of apply conflicts lists the first conflicts and the number of others', () => {
  const { message, details } = conflictsAmong(4000)
  assert.equal(details?.causes?.length, 50)
  assert.match(message, /^Apply failed with 4000 conflicts: /)
  assert.match(message, /\nand 3950 more\n/)
  assert.ok(message.length < 10_000)
})

test('conflict errors truncate long names, paths and values without splitting characters', () => {
  const name = `${'n'.repeat(199)}\u{1f600}`
  const live = objectOf({ data: { [name.repeat(4)]: name.repeat(4) } }, [
    { ...entries(1, 'Apply', () => ({ 'f:data': { [`f:${name.repeat(4)}`]: {} } }))[0]!, manager: name },
  ])
  const applied = apply(live, { data: { [name.repeat(4)]: 'other' } })
  assert.ok(applied.outcome === 'conflict')
  const { message } = applyConflict(applied.conflicts)
  assert.ok(message.isWellFormed() && message.length < 2000, message)
})

test('a strategic merge patch may contain the same element at most ten times', () => {
  const patch = (times: number) => ({ items: many(times, (i) => ({ name: 'a', env: { [`e${i}`]: '' } })) })
  const document = { items: [{ name: 'a', env: {} }] }
  const merged = applyStrategicMergePatch(thing, document, patch(10)) as { items: [{ env: JsonObject }] }
  assert.equal(Object.keys(merged.items[0].env).length, 10)
  assert.throws(
    () => applyStrategicMergePatch(thing, document, patch(11)),
    (error) => error instanceof ApiError && error.code === 400,
  )
})

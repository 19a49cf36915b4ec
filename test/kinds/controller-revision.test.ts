/** ControllerRevision: data of any form that never changes, and whose it is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controllerRevision } from '../../src/kinds/apps/controller-revision.ts'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { asJson } from '../../src/model/object.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

test('data of any form is kept as it is', () => {
  for (const data of [
    {},
    { spec: { $patch: 'replace' } },
    [1, 2],
    'x',
    '',
    0,
    false,
    { kind: 'ConfigMap' },
  ] as Json[]) {
    const { object, faults } = create({ data })
    assert.deepEqual([faults, asJson(object).data, asJson(object).revision], [[], data, 0])
  }
})

test('there is data, and the revision is not below zero', () => {
  assert.deepEqual(create({}).faults, ['Required data'])
  assert.deepEqual(create({ data: null, revision: -1 }).faults, ['Invalid revision', 'Required data'])
})

test('the data never changes, in whichever order its members are sent; the revision may', () => {
  const { object } = create({ data: { a: 1, b: [{ c: 2 }] }, revision: 1 })
  const faultsOf = (sent: JsonObject) => updateBy(controllerRevision, object, objectOf(sent)).faults
  assert.deepEqual(faultsOf({ data: { a: 1, b: [{ c: 2 }] }, revision: 2 }), [])
  assert.deepEqual(faultsOf({ data: { b: [{ c: 2 }], a: 1 } }), [])
  for (const data of [{ a: 1 }, { a: 1, b: [{ c: 3 }] }, { a: 1, b: [{ c: 2, d: null }] }, [], 'a'] as Json[])
    assert.deepEqual(faultsOf({ data }), ['Invalid data'], JSON.stringify(data))
})

test('a table shows whose it is', () => {
  const { object } = create({ data: {}, revision: 3 })
  assert.deepEqual(cellsOf(controllerRevision, object), ['r', '<none>', 3, '<unknown>'])
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true }
  const owned = {
    ...object,
    metadata: { ...object.metadata, ownerReferences: [{ ...owner, controller: false }, owner] },
  }
  assert.equal(cellsOf(controllerRevision, owned)[1], 'statefulset.apps/web')
  const core = { ...object, metadata: { ...object.metadata, ownerReferences: [{ ...owner, apiVersion: 'v1' }] } }
  assert.equal(cellsOf(controllerRevision, core)[1], 'statefulset/web')
})

function create(sent: JsonObject) {
  return createBy(controllerRevision, objectOf(sent))
}

function objectOf(sent: JsonObject): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r' }, ...sent }
}

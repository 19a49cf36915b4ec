/** Tests ControllerRevision: arbitrary immutable data, and the controller that owns the revision. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { controllerRevision } from '../../../src/api/kinds/apps/controller-revision.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

test('a ControllerRevision stores any JSON value unchanged', () => {
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

test('a ControllerRevision without data or with a negative revision is rejected', () => {
  assert.deepEqual(create({}).faults, ['Required data'])
  assert.deepEqual(create({ data: null, revision: -1 }).faults, ['Invalid revision', 'Required data'])
})

test('the revision number of a ControllerRevision is mutable, but the data, including the member order, is immutable', () => {
  const { object } = create({ data: { a: 1, b: [{ c: 2 }] }, revision: 1 })
  const faultsOf = (sent: JsonObject) => updateBy(controllerRevision, object, objectOf(sent)).faults
  assert.deepEqual(faultsOf({ data: { a: 1, b: [{ c: 2 }] }, revision: 2 }), [])
  for (const data of [{ b: [{ c: 2 }], a: 1 }, { a: 1 }, { a: 1, b: [{ c: 3 }] }, [], 'a'] as Json[])
    assert.deepEqual(faultsOf({ data }), ['Invalid data'], JSON.stringify(data))
})

test('the server preserves the member order in the data of a ControllerRevision', async (t) => {
  const client = (await serve(t)).client()
  const path = '/apis/apps/v1/namespaces/default/controllerrevisions'
  const data = { z: 1, b: { y: null, a: [{ q: 1, c: [] }] }, a: 'x' }
  const text = JSON.stringify(data)
  assert.equal((await client.post(path, objectOf({ data, revision: 1 }))).status, 201)
  assert.equal(JSON.stringify((await client.get(`${path}/r`)).body.data), text)
  const again = await client.put(`${path}/r`, objectOf({ data, revision: 2 }))
  assert.deepEqual([again.status, again.body.revision], [200, 2], again.text)
  const { z, ...others } = data
  assert.equal((await client.put(`${path}/r`, objectOf({ data: { ...others, z }, revision: 2 }))).status, 422)
})

test('the table shows the controller of a ControllerRevision', () => {
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

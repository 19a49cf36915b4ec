/** Tests the requests that admission plugins receive. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { admissionRequest } from '../../../src/apiserver/registry/writes/admission-request.ts'
import type { WriteContext } from '../../../src/apiserver/registry/writes/write.ts'
import { WriteConditions } from '../../../src/apiserver/registry/writes/write-conditions.ts'

const resource = { kind: configMap, group: '', plural: 'configmaps', versions: [], clock: { monotonic: () => 0 } }
const context = { resource, namespace: 'a', subresource: '' } as unknown as WriteContext

function requestWith(oldObject: ApiObject | undefined) {
  const operation = oldObject === undefined ? 'CREATE' : 'UPDATE'
  const object = { metadata: {} } as ApiObject
  return admissionRequest(context, { operation, name: 'n', object, oldObject, conditions: new WriteConditions() })
}

test('plugins receive a frozen copy of the old object, even from a copy of the request', () => {
  const stored = { metadata: { name: 'n' } } as ApiObject
  const request = requestWith(stored)
  const { oldObject } = { ...request }
  assert.deepEqual(oldObject, stored)
  assert.notEqual(oldObject, stored)
  assert.ok(Object.isFrozen(oldObject?.metadata))
  assert.equal(request.oldObject, oldObject)
})

test('admission requests share one accessor for old objects, but each request returns its own old object', () => {
  const [one, other] = ['one', 'other'].map((name) => requestWith({ metadata: { name } } as ApiObject))
  assert.deepEqual(
    [one!, other!].map(({ oldObject }) => oldObject?.metadata.name),
    ['one', 'other'],
  )
  const getterOf = (request: object) => Object.getOwnPropertyDescriptor(request, 'oldObject')?.get
  assert.notEqual(getterOf(one!), undefined)
  assert.equal(getterOf(one!), getterOf(other!))
})

test('a create has no old object', () => {
  const request = requestWith(undefined)
  assert.ok('oldObject' in request)
  assert.equal(request.oldObject, undefined)
})

/** Tests the Status that is returned for each error in a patch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import {
  inapplicable,
  invalidPatch,
  malformed,
  parsePatchObject,
  patchFault,
} from '../../../src/api/merge/patch-faults.ts'
import { type ApiError, badRequest, failure } from '../../../src/api/model/api-error.ts'

test('a malformed patch returns 400 without details', () => {
  const { code, reason, details } = failure(malformed('x'))
  assert.deepEqual([code, reason, details], [400, 'BadRequest', undefined])
})

test('an inapplicable patch returns 422 with empty details', () => {
  const { code, reason, details } = failure(inapplicable('x'))
  assert.deepEqual([code, reason, details], [422, 'Invalid', {}])
})

test('a patch with an invalid result returns 422, and the cause names the field patch', () => {
  const { code, reason, details } = failure(invalidPatch('no such field'))
  const causes = [{ reason: 'FieldValueInvalid', message: 'Invalid value: no such field', field: 'patch' }]
  assert.deepEqual([code, reason, details], [422, 'Invalid', { causes }])
})

test('a merge patch must be an object', () => {
  assert.deepEqual(parsePatchObject({}), {})
  for (const value of [[], 'x', 7, null, true] as Json[])
    assert.throws(() => parsePatchObject(value), { code: 400, reason: 'BadRequest' })
})

test('among the errors in a patched object, only decoding errors are attributed to the patch', () => {
  const error = patchFault(badRequest('data: expected map, got array')) as ApiError
  assert.deepEqual([error.code, error.reason], [422, 'Invalid'])
  assert.deepEqual(
    error.details?.causes?.map(({ field, message }) => [field, message]),
    [['patch', 'Invalid value: data: expected map, got array']],
  )
  for (const other of [new Error('x'), inapplicable('no such place')]) assert.equal(patchFault(other), other)
})

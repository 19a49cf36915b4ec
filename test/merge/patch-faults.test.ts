/** The Status of each way in which a patch is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodePatched, inapplicable, invalidPatch, malformed, parsePatchObject } from '../../src/merge/patch-faults.ts'
import { failure } from '../../src/model/api-error.ts'
import type { Json } from '../../src/model/json.ts'
import { field, s } from '../../src/schema/schema.ts'

const secret = s.object({ data: field(2, s.map(s.bytes())), immutable: field(5, s.boolean()) })

test('a malformed patch is a 400 without details', () => {
  const { code, reason, details } = failure(malformed('x'))
  assert.deepEqual([code, reason, details], [400, 'BadRequest', undefined])
})

test('a patch that does not fit is a 422 with empty details', () => {
  const { code, reason, details } = failure(inapplicable('x'))
  assert.deepEqual([code, reason, details], [422, 'Invalid', {}])
})

test('a patch with an invalid outcome is a 422 with the cause in the field patch', () => {
  const { code, reason, details } = failure(invalidPatch('no such field'))
  const causes = [{ reason: 'FieldValueInvalid', message: 'Invalid value: no such field', field: 'patch' }]
  assert.deepEqual([code, reason, details], [422, 'Invalid', { causes }])
})

test('a merge patch is an object', () => {
  assert.deepEqual(parsePatchObject({}), {})
  for (const value of [[], 'x', 7, null, true] as Json[])
    assert.throws(() => parsePatchObject(value), { code: 400, reason: 'BadRequest' })
})

test('what cannot be decoded after a patch is the fault of the patch', () => {
  for (const value of [
    { data: ['a'] },
    { data: { a: 5 } },
    { data: { a: '%%%' } },
    { immutable: 'yes' },
    'x',
  ] as Json[])
    assert.throws(
      () => decodePatched(secret, value),
      (error: { code: number; details: { causes: { field: string }[] } }) =>
        error.code === 422 && error.details.causes.length === 1 && error.details.causes[0]!.field === 'patch',
    )
})

test('what can be decoded is, unknown fields reported', () => {
  const { value, unknown } = decodePatched(secret, { data: { a: 'b25l' }, spec: {} })
  assert.deepEqual([value, unknown], [{ data: { a: 'b25l' } }, ['spec']])
})

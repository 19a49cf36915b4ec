/** Tests validation beyond types: mutually exclusive fields, and allowed values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { decode } from '../../../src/api/schema/decode.ts'
import { field, s } from '../../../src/api/schema/schema.ts'
import { validate } from '../../../src/api/schema/validate.ts'

const part = s.object({ name: field(1, s.string(), { required: true }) })
const fields = { x: field(1, part), y: field(2, part), z: field(3, part), other: field(4, part) }
const choice = s.object(fields, { choice: { among: ['y', 'x', 'z'], noun: 'letter' } })

test('exactly one field of a union must be set, and additional fields are rejected without being validated', () => {
  assert.deepEqual(faults(choice, {}), ['FieldValueRequired '])
  assert.deepEqual(faults(choice, { other: { name: 'a' } }), ['FieldValueRequired '])
  assert.deepEqual(faults(choice, { z: { name: 'a' }, other: { name: 'b' } }), [])
  assert.deepEqual(faults(choice, { x: {}, y: { name: 'a' }, z: {} }), [
    'FieldValueForbidden x',
    'FieldValueForbidden z',
  ])
  assert.deepEqual(faults(choice, { x: { name: 'a' }, y: {} }), ['FieldValueForbidden x', 'FieldValueRequired y.name'])
})

test('an empty string is validated if the client sent it, but not if the decoder added it', () => {
  const mode = s.oneOf('A', 'B')
  const listed = s.object({
    kept: field(1, mode, { zeroValue: 'keep' }),
    dropped: field(2, mode),
    written: field(3, mode, { zeroValue: 'write' }),
    list: field(4, s.list(mode)),
  })
  assert.deepEqual(faults(listed, {}), [])
  assert.deepEqual(faults(listed, { kept: 'A', dropped: '', written: '', list: ['B'] }), [])
  assert.deepEqual(faults(listed, { kept: '', dropped: 'C', written: 'C', list: ['A', ''] }), [
    'FieldValueNotSupported kept',
    'FieldValueNotSupported dropped',
    'FieldValueNotSupported written',
    'FieldValueNotSupported list[1]',
  ])
})

function faults(schema: Parameters<typeof validate>[0], value: Json): string[] {
  const context = { vendor: vendorOf('orch'), subresource: '' }
  return validate(schema, decode(schema, value).value, context).map(({ fault, path }) => `${fault} ${path}`)
}

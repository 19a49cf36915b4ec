/**
 * Tests reading configuration files. A file is either decoded completely or rejected with an error that names the
 * field.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { readConfiguration, readFields } from '../../../src/api/schema/read-configuration.ts'
import { field, s } from '../../../src/api/schema/schema.ts'

const vendor = vendorOf('orch')
const limit = s.object({ qps: field(1, s.int32(), { required: true }), type: field(2, s.oneOf('Server', 'User')) })
const fields = { limits: field(1, s.list(limit), { required: true }) }
const form = { vendor, group: 'example.admission', versions: ['v1beta1', 'v1'], kind: 'Configuration', fields }
const type = { apiVersion: 'example.admission.orch.io/v1', kind: 'Configuration' }

test('a configuration file is decoded by its schema in each supported version', () => {
  const limits = [{ qps: 5, type: 'Server' }]
  assert.deepEqual(readConfiguration({ ...type, limits }, form), { limits })
  assert.deepEqual(readConfiguration({ ...type, apiVersion: 'example.admission.orch.io/v1beta1', limits }, form), {
    limits,
  })
  assert.deepEqual(readFields({ limits }, form), { limits })
})

for (const [what, value, expected] of [
  ['a value that is not an object', 'text', /must be an object/],
  [
    'a different kind',
    { ...type, kind: 'Other' },
    /must be of kind Configuration in example\.admission\.orch\.io\/v1beta1 or/,
  ],
  ['a different version', { ...type, apiVersion: 'v1' }, /must be of kind Configuration/],
  ['an unknown field', { ...type, limits: [{ qps: 1, burts: 2 }] }, /unknown field "limits\[0\]\.burts"/],
  ['a value of the wrong type', { ...type, limits: [{ qps: 'many' }] }, /limits\[0\]\.qps/],
  ['a missing required field', { ...type, limits: [{ type: 'User' }] }, /limits\[0\]\.qps: Required value/],
  ['an unlisted value', { ...type, limits: [{ qps: 1, type: 'Nobody' }] }, /limits\[0\]\.type: Unsupported/],
  [
    '__proto__',
    JSON.parse(`{"__proto__": 1, "apiVersion": "${type.apiVersion}", "kind": "Configuration"}`),
    /__proto__/,
  ],
] as [string, Json, RegExp][])
  test(`a configuration file is rejected with a matching error: ${what}`, () =>
    assert.throws(() => readConfiguration(value, form), expected))

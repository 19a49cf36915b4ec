/** Tests the order of versions by stability. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareVersions } from '../../../src/api/model/version-order.ts'

test('API versions are sorted with stable versions first, then beta, alpha and all other names', () => {
  const ordered = [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
    'v0',
  ]
  assert.deepEqual(ordered.toReversed().sort(compareVersions), ordered)
})

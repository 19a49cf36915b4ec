/** Tests Lease: validation, encoding of zero values, and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { lease } from '../../../src/api/kinds/coordination/lease.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { cellsOf, createBy } from './rules.ts'

test('a Lease preserves microseconds and explicit zero values', () => {
  const renewTime = '2024-01-02T03:04:05.678901Z'
  const spec = { holderIdentity: '', leaseDurationSeconds: 15, acquireTime: renewTime, renewTime, leaseTransitions: 0 }
  const { object, faults } = create({ spec })
  assert.deepEqual([faults, asJson(object).spec], [[], spec])
  assert.deepEqual(asJson(create({}).object).spec, {})
})

test('a Lease with a duration of 0 or a negative number of transitions is rejected', () => {
  assert.deepEqual(create({ spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }).faults, [
    'Invalid spec.leaseDurationSeconds',
    'Invalid spec.leaseTransitions',
  ])
  assert.deepEqual(create({ spec: { leaseDurationSeconds: 1 } }).faults, [])
})

test('the table shows the holder of a Lease', () => {
  assert.deepEqual(cellsOf(lease, create({}).object).slice(0, 2), ['a', ''])
  assert.deepEqual(cellsOf(lease, create({ spec: { holderIdentity: 'me' } }).object).slice(0, 2), ['a', 'me'])
})

function create(sent: JsonObject) {
  return createBy(lease, { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: 'a' }, ...sent })
}

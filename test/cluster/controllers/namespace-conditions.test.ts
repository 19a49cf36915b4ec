/** Tests the conditions of a terminating namespace. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  conditionsOf,
  isEmpty,
  newSweep,
  withConditions,
} from '../../../src/cluster/controllers/namespace-conditions.ts'

const other = { type: 'example.com/Other', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' }
const later = Date.UTC(2030, 0, 1)

test('namespace conditions keep their transition time unless their status changes, and other conditions are kept', () => {
  const sweep = newSweep([])
  sweep.remaining.set('configmaps', 2)
  const first = withConditions([other], conditionsOf(sweep), Date.UTC(2025, 0, 1))!
  assert.equal(withConditions(first, conditionsOf(sweep), later), undefined)

  sweep.remaining.set('configmaps', 1)
  sweep.finalizers.set('example.com/f', 1)
  const second = withConditions(first, conditionsOf(sweep), later)!
  const times = Object.fromEntries(
    second.map(({ type, lastTransitionTime }) => [type, lastTransitionTime?.slice(0, 4)]),
  )
  assert.deepEqual(times, {
    'example.com/Other': '2020',
    NamespaceDeletionDiscoveryFailure: '2025',
    NamespaceDeletionGroupVersionParsingFailure: '2025',
    NamespaceDeletionContentFailure: '2025',
    NamespaceContentRemaining: '2025',
    NamespaceFinalizersRemaining: '2030',
  })
  assert.match(second.find(({ type }) => type === 'NamespaceContentRemaining')!.message!, /configmaps \(1 left\)/)
})

test('a namespace is not treated as empty while type discovery fails, and long condition messages are truncated', () => {
  assert.ok(isEmpty(newSweep([])))
  assert.ok(!isEmpty(newSweep(['batch/v1: no answer'])))
  const sweep = newSweep([])
  for (let i = 0; i < 1000; i++) sweep.failures.push(`type${i}: failed`)
  assert.ok(!isEmpty(sweep))
  const told = conditionsOf(sweep).find(({ type }) => type === 'NamespaceDeletionContentFailure')!
  assert.deepEqual([told.status, told.reason], ['True', 'ContentDeletionFailed'])
  assert.match(told.message!, /and 980 more$/)
})

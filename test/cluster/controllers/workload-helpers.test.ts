/**
 * Tests the helpers for workload loops: expectations, batches, deletion order, hashes and the interval between
 * scans.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'
import { slowStart, writeAll } from '../../../src/cluster/controllers/workloads/batches.ts'
import { firstToDelete } from '../../../src/cluster/controllers/workloads/deletion-order.ts'
import { Expectations } from '../../../src/cluster/controllers/workloads/expectations.ts'
import { availableInMs, isAvailable, nextAvailableMs } from '../../../src/cluster/controllers/workloads/pod-state.ts'
import { StepSpacing } from '../../../src/cluster/controllers/workloads/step-spacing.ts'
import { contentHash } from '../../../src/cluster/controllers/workloads/template-hash.ts'

const now = Date.parse('2030-01-01T00:00:00Z')

test('an expectation remains until every write has been observed or has failed, or for at most five minutes', () => {
  let time = 0
  const expectations = new Expectations({ now: () => time, monotonic: () => time })
  expectations.expectCreations('a', 2)
  expectations.settleCreation('b')
  expectations.settleCreation('a')
  assert.equal(expectations.waitMs('a'), 300_000)
  expectations.settleCreation('a')
  assert.equal(expectations.waitMs('a'), 0)
  expectations.expectDeletions('a', ['1', '2'])
  expectations.settleDeletion('a', '1')
  expectations.settleDeletion('a', '1')
  time = 299_000
  assert.equal(expectations.waitMs('a'), 1000)
  time = 300_000
  assert.equal(expectations.waitMs('a'), 0)
  expectations.settleDeletion('a', '2')
  assert.equal(expectations.waitMs('a'), 0)
})

test('a workload creates pods in batches that double in size and stop after the first failure', async () => {
  const begun: number[] = []
  const write = (failing: number) => async (i: number) => {
    begun.push(i)
    if (i === failing) throw new Error(`no ${i}`)
  }
  assert.deepEqual(await slowStart(10, write(-1)), { succeeded: 10 })
  begun.length = 0
  assert.deepEqual(await slowStart(500, write(0)), { succeeded: 0, error: new Error('no 0') })
  assert.deepEqual(begun, [0])
  assert.deepEqual(await slowStart(500, write(4)), { succeeded: 6, error: new Error('no 4') })
  assert.deepEqual(await writeAll(5, write(0)), { succeeded: 4, error: new Error('no 0') })
})

function pod(
  name: string,
  { node = 'n', phase = 'Running', ready = 'True', ageMs = 8e6, cost = '', restarts = 0 } = {},
) {
  const since = new Date(now - ageMs).toISOString()
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: name,
      creationTimestamp: since,
      ...(cost === '' ? {} : { annotations: { 'controller.orch.io/pod-deletion-cost': cost } }),
    },
    spec: { nodeName: node },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready, lastTransitionTime: since }],
      containerStatuses: [{ name: 'c', restartCount: restarts }],
    },
  } as Pod
}

test('a workload deletes pods in order of startup progress, deletion cost, number of pods on the node, and age', () => {
  const pods = [
    pod('old', { ageMs: 1e9 }),
    pod('young', { ageMs: 1000 }),
    pod('dear', { cost: '10', ageMs: 1 }),
    pod('cheap', { cost: '-5', ageMs: 1e9 }),
    pod('wrong-cost', { cost: '+7', ageMs: 1e10 }),
    pod('crowded', { node: 'full' }),
    pod('not-ready', { ready: 'False', cost: '100' }),
    pod('pending', { phase: 'Pending', cost: '100' }),
    pod('unassigned', { node: '', cost: '100' }),
    pod('restarted', { restarts: 3, ageMs: 1e9 }),
  ]
  const context = { vendor: vendorOf('orch'), now, crowdOf: ({ spec }: Pod) => (spec?.nodeName === 'full' ? 2 : 1) }
  assert.deepEqual(
    runToCompletion(firstToDelete(pods, pods.length, context)).map(({ metadata }) => metadata.name),
    [...['unassigned', 'pending', 'not-ready', 'cheap', 'crowded', 'young', 'restarted', 'old', 'wrong-cost', 'dear']],
  )
})

test('the deletion order of many pods is computed in short time slices', () => {
  const many = Array.from({ length: 10_000 }, (_, i) => pod(`p${i}`, { cost: String((i * 7919) % 10_000) }))
  const context = { vendor: vendorOf('orch'), now, crowdOf: () => 1 }
  const work = firstToDelete(many, 500, context)
  let rests = 0
  let step = work.next()
  for (; !step.done; step = work.next()) rests++
  const costs = (step.value as Pod[]).map(({ metadata }) => Number(Object.values(metadata.annotations ?? {})[0]))
  assert.deepEqual(
    costs,
    Array.from({ length: 500 }, (_, i) => i),
  )
  assert.ok(rests >= 10, `it rested ${rests} times`)
})

test('the interval between scans of a set of pods is long for large sets and short for small sets', () => {
  const spacing = new StepSpacing()
  assert.equal(spacing.waitMs('a'), 0)
  spacing.looked('small', 10)
  assert.equal(spacing.waitMs('small'), 0)
  for (const key of ['a', 'b', 'c', 'd']) spacing.looked(key, 1000)
  assert.equal(spacing.waitMs('e'), 0)
  const waits = ['a', 'b', 'c', 'd'].map((key) => spacing.waitMs(key))
  assert.deepEqual(
    waits,
    waits.toSorted((a, b) => a - b),
    'each waits for those before it',
  )
  assert.ok(waits[3]! > 300 && waits[3]! <= 401, String(waits))
  for (let i = 0; i < 100; i++) spacing.looked(`large-${i}`, 10_000)
  assert.ok(spacing.waitMs('large-99') <= 1000, 'nobody waits for long')
})

test('a pod counts as available after minReadySeconds', () => {
  const young = pod('a', { ageMs: 3000 })
  assert.equal(isAvailable(young, 0, now), true)
  assert.equal(isAvailable(young, 5, now), false)
  assert.equal(availableInMs(young, 5, now), 2000)
  assert.equal(isAvailable(young, 3, now), true)
  assert.equal(isAvailable(pod('b', { ready: 'False' }), 0, now), false)
  assert.equal(nextAvailableMs([young, pod('c', { ageMs: 4000 }), pod('d', { ready: 'False' })], 5, now), 1000)
  assert.equal(nextAvailableMs([young], 0, now), undefined)
})

test('equal pod templates have equal hashes, and a collision count changes the hash', () => {
  const hash = contentHash({ a: 1, b: ['x', { c: null }] }, undefined)
  assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
  assert.equal(contentHash({ b: ['x', { c: null }], a: 1, d: undefined }, undefined), hash)
  for (const other of [
    contentHash({ a: 1, b: ['x', { c: null }] }, 0),
    contentHash({ a: 1, b: ['x', { c: 0 }] }, undefined),
    contentHash({ a: 1, b: [['x'], { c: null }] }, undefined),
  ])
    assert.notEqual(other, hash)
})

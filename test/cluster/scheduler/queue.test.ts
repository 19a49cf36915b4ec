/**
 * Tests when scheduling attempts are made: in order of priority and time, after backoff, and after relevant changes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Heap } from '../../../src/base/collections/heap.ts'
import { TaskPool } from '../../../src/base/concurrency/task-pool.ts'
import { happened } from '../../../src/cluster/scheduler/plugin.ts'
import { SchedulingQueue } from '../../../src/cluster/scheduler/queue.ts'
import { pod } from '../../support/scheduling.ts'

const { podGone, nodeAdded } = happened
const isNew = { isChanged: true }

function open() {
  const clock = { now: 0 }
  const queue = new SchedulingQueue(() => clock.now)
  const add = (name: string, priority = 0) => queue.set(pod(name, { priority }), isNew)
  const next = () => {
    queue.refresh()
    return queue.take()
  }
  /** Tries the next Pod, which fits on no node. */
  const refuse = (wokenBy: number) => {
    const entry = next()!
    queue.rest(entry, wokenBy)
    return entry
  }
  return { clock, queue, add, next, refuse }
}

test('pods are scheduled by priority, and pods of equal priority by age', () => {
  const { clock, add, next } = open()
  for (const [name, priority] of [
    ['a', 0],
    ['b', 5],
    ['c', 0],
    ['d', 5],
  ] as const) {
    add(name, priority)
    clock.now++
  }
  assert.deepEqual(
    [next(), next(), next(), next(), next()].map((each) => each?.pod.name),
    ['b', 'd', 'a', 'c', undefined],
  )
})

test('an unschedulable pod is not retried until a relevant change', () => {
  const { clock, queue, add, next, refuse } = open()
  add('a')
  refuse(podGone)
  clock.now = 5_000
  assert.equal(next(), undefined)
  queue.note(nodeAdded)
  assert.equal(next(), undefined)
  queue.note(podGone)
  assert.equal(next()?.pod.name, 'a')
})

test('the scheduling backoff of a pod grows from one to ten seconds, regardless of changes', () => {
  const { clock, queue, add, next, refuse } = open()
  add('a')
  const waits: number[] = []
  for (let i = 0; i < 6; i++) {
    refuse(podGone)
    queue.note(podGone)
    queue.refresh()
    const began = clock.now
    assert.equal(next(), undefined)
    clock.now += queue.nextMs! - 1
    assert.equal(next(), undefined)
    clock.now++
    waits.push(clock.now - began)
  }
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
})

test('an unschedulable pod is retried after one minute', () => {
  const { clock, queue, add, next, refuse } = open()
  add('a')
  refuse(podGone)
  assert.equal(queue.nextMs, 60_000)
  clock.now = 59_999
  assert.equal(next(), undefined)
  clock.now = 60_000
  assert.equal(next()?.pod.name, 'a')
})

test('the scheduling queue does not miss changes that happen during a scheduling attempt', () => {
  const { clock, queue, add, next } = open()
  add('a')
  const entry = next()!
  queue.note(podGone)
  queue.rest(entry, podGone)
  clock.now = 1_000
  assert.equal(next()?.pod.name, 'a')
})

test('an unschedulable pod is retried if it changes, but not if only its status changes', () => {
  const { clock, queue, add, next, refuse } = open()
  add('a')
  const { pod: known } = refuse(0)
  clock.now = 2_000
  queue.set(known, { isChanged: false })
  assert.equal(next(), undefined)
  queue.set(known, isNew)
  assert.equal(next()?.pod.name, 'a')
})

test('a deleted pod is removed from the scheduling queue', () => {
  const { queue, add, next } = open()
  for (const name of ['a', 'b', 'c']) add(name)
  const a = next()!
  const b = next()!
  for (const name of ['a', 'b', 'c']) queue.remove(`default/${name}`)
  queue.rest(a, ~0)
  queue.retry(b)
  queue.note(~0)
  assert.equal(next(), undefined)
  assert.deepEqual([queue.size, queue.nextMs], [0, undefined])
})

test('10,000 changes cause only one scheduling retry of each of 10,000 waiting pods', () => {
  const { clock, queue, add, next, refuse } = open()
  for (let i = 0; i < 10_000; i++) add(`p${i}`)
  for (let i = 0; i < 10_000; i++) refuse(podGone)
  clock.now = 2_000
  for (let i = 0; i < 10_000; i++) queue.note(podGone)
  let count = 0
  while (next() !== undefined) count++
  assert.equal(count, 10_000)
})

test('a heap returns its values in sorted order', () => {
  const heap = new Heap<number>((a, b) => a < b)
  const values = Array.from({ length: 500 }, (_, i) => (i * 7919) % 503)
  for (const value of values) heap.push(value)
  assert.equal(heap.peek(), 0)
  const found = Array.from({ length: 501 }, () => heap.pop())
  assert.deepEqual(found, [...values.sort((a, b) => a - b), undefined])
})

test('a task pool limits the number of running tasks, not counting tasks that wait outside the pool', async () => {
  const pool = new TaskPool(1)
  const first = Promise.withResolvers<void>()
  const outside = Promise.withResolvers<void>()
  assert.equal(pool.room(), undefined)
  pool.run(async () => {
    await first.promise
    await pool.outside(outside.promise)
  })
  const room = pool.room()
  assert.notEqual(room, undefined)
  first.resolve()
  await room
  assert.equal(pool.room(), undefined)
  outside.resolve()
  await pool.settled()
})

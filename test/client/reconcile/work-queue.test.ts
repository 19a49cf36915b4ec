/** Tests the work queue: unique keys, retries with backoff, limited concurrency and a clean shutdown. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type StepOutcome, WorkQueue } from '../../../src/client/reconcile/work-queue.ts'
import { WorkQueueMetrics } from '../../../src/client/reconcile/work-queue-metrics.ts'

/** Creates a queue in which the test determines when the work on each key ends. */
function begin(t: TestContext, concurrency = 2) {
  const under = new Map<string, PromiseWithResolvers<StepOutcome>>()
  const started: string[] = []
  const errors: string[] = []
  const metrics = new WorkQueueMetrics()
  const queue = new WorkQueue({
    meter: (state) => metrics.open('things', state),
    work: (key) => {
      assert.ok(!under.has(key), `${key} is worked on twice at once`)
      started.push(key)
      const work = Promise.withResolvers<StepOutcome>()
      under.set(key, work)
      return work.promise.finally(() => under.delete(key))
    },
    onError: (key, error) => errors.push(`${key}: ${(error as Error).message}`),
    concurrency,
    backoff: { firstMs: 100, longestMs: 400 },
  })
  const stop = new AbortController()
  const running = queue.run(stop.signal)
  const finish = async (key: string, outcome: StepOutcome | Error) => {
    if (outcome instanceof Error) under.get(key)!.reject(outcome)
    else under.get(key)!.resolve(outcome)
    await setImmediate()
  }
  const end = async () => {
    stop.abort()
    for (const key of under.keys()) await finish(key, 'done')
    await running
  }
  t.after(end)
  /** Returns the keys whose processing has started since the previous call. */
  const taken = () => started.splice(0)
  const count = (name: string) => {
    const samples = metrics.metrics.flatMap((metric) =>
      [...metric.samples()].map(({ metricName = metric.name, value }) => ({ metricName, value })),
    )
    return samples.find(({ metricName }) => metricName === name)?.value
  }
  return { queue, stop, running, finish, taken, errors, end, count }
}

test('the work queue contains a key only once, and a key added while being processed is processed again', async (t) => {
  const { queue, finish, taken } = begin(t)
  for (const key of ['a', 'a', 'b', 'c', 'c']) queue.add(key)
  assert.deepEqual(taken(), ['a', 'b'])
  queue.add('a')
  queue.add('a')
  await finish('b', 'done')
  assert.deepEqual(taken(), ['c'])
  await finish('a', 'done')
  assert.deepEqual(taken(), ['a'])
  await finish('a', 'done')
  await finish('c', 'done')
  assert.deepEqual(taken(), [])
})

test('the work queue retries a failed key with a backoff that grows up to a limit, and a success resets the backoff', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, finish, taken, errors } = begin(t)
  queue.add('a')
  for (const longest of [100, 200, 400, 400]) {
    assert.deepEqual(taken(), ['a'])
    await finish('a', new Error('no'))
    // The delay is between half of the backoff and the whole backoff.
    t.mock.timers.tick(longest / 2 - 1)
    assert.deepEqual(taken(), [])
    t.mock.timers.tick(longest / 2 + 1)
  }
  assert.equal(errors.length, 4)
  assert.deepEqual(taken(), ['a'])
  await finish('a', 'done')
  queue.add('a')
  await finish('a', 'later')
  taken()
  t.mock.timers.tick(100)
  assert.deepEqual(taken(), ['a'])
  assert.equal(errors.length, 4, 'not done yet is no failure')
})

test('adding a key to the work queue cancels its backoff, and the key is processed once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, finish, taken } = begin(t)
  queue.add('a')
  await finish('a', { afterMs: 5000 })
  taken()
  queue.add('a')
  assert.deepEqual(taken(), ['a'])
  await finish('a', 'done')
  t.mock.timers.tick(10_000)
  assert.deepEqual(taken(), [])
})

test('stopping the work queue waits for active keys and starts no further keys', async (t) => {
  const { queue, stop, running, finish, taken } = begin(t, 1)
  queue.add('a')
  queue.add('b')
  taken()
  stop.abort()
  let ended = false
  const watched = running.then(() => {
    ended = true
  })
  await setImmediate()
  assert.equal(ended, false)
  await finish('a', 'later')
  await watched
  queue.add('c')
  assert.deepEqual(taken(), [])
})

test('the work queue counts additions, retries, waiting keys and active keys', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, finish, count } = begin(t)
  for (const key of ['a', 'a', 'b', 'c', 'c', 'd']) queue.add(key)
  // The keys `a` and `b` are active, and `a` is added again. The keys `c` and `d` wait.
  queue.add('a')
  assert.deepEqual([count('workqueue_adds_total'), count('workqueue_depth')], [5, 3])
  const longest = count('workqueue_longest_running_processor_seconds')!
  assert.ok(longest > 0 && longest <= count('workqueue_unfinished_work_seconds')!)
  await finish('b', new Error('no'))
  assert.deepEqual([count('workqueue_retries_total'), count('workqueue_depth')], [1, 2])
  for (const key of ['a', 'c', 'd', 'a']) await finish(key, 'done')
  assert.equal(count('workqueue_depth'), 0)
  assert.equal(count('workqueue_work_duration_seconds_count'), 5)
  assert.equal(count('workqueue_queue_duration_seconds_count'), 5)
  assert.equal(count('workqueue_unfinished_work_seconds'), 0)
})

test('the work queue limits how many keys start per second, and a key is done if its handler returns nothing', async () => {
  const started: string[] = []
  const last = Promise.withResolvers<void>()
  const queue = new WorkQueue({
    work: async (key) => {
      started.push(key)
      if (key === 'e') last.resolve()
    },
    onError: (_, error) => assert.fail(String(error)),
    rate: { perSecond: 20, burst: 3 },
  })
  const stop = new AbortController()
  const running = queue.run(stop.signal)
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key)
  await setImmediate()
  assert.deepEqual(started, ['a', 'b', 'c'])
  await last.promise
  assert.deepEqual(started, ['a', 'b', 'c', 'd', 'e'])
  stop.abort()
  await running
})

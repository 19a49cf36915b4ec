/** Tests limits on rates and on concurrent operations. The counts are in memory that all workers of a process share. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { newBucketMemory, openRateBuckets } from '../../src/base/limits/rate-buckets.ts'
import { SharedCount } from '../../src/base/limits/shared-count.ts'

const module = JSON.stringify(new URL('../../src/base/limits/rate-buckets.ts', import.meta.url).href)

test('all threads that share a rate bucket together take no more tokens than the burst', async () => {
  const memory = newBucketMemory()
  const rate = { perSecond: 1, burst: 1000, keys: 4096 }
  const code = `
    const { workerData: { memory, rate, started }, parentPort } = require('node:worker_threads')
    import(${module}).then(({ openRateBuckets }) => {
      const [buckets] = openRateBuckets(memory, [rate], () => 1n)
      Atomics.add(started, 0, 1)
      while (Atomics.load(started, 0) < 3);
      let taken = 0
      for (let i = 0; i < 2000; i++) if (buckets.take('key')) taken++
      parentPort.postMessage(taken)
    })`
  const started = new Int32Array(new SharedArrayBuffer(4))
  const totals = Array.from({ length: 3 }, () => {
    const thread = new Worker(code, { eval: true, workerData: { memory, rate, started } })
    return new Promise<number>((resolve, reject) => thread.once('message', resolve).once('error', reject))
  })
  const sum = (await Promise.all(totals)).reduce((all, each) => all + each, 0)
  assert.equal(sum, 1000)
})

test('rate tables with different rates are independent, and rate tables in the same memory are shared', () => {
  const memory = newBucketMemory()
  const rates = [
    { perSecond: 1, burst: 1, keys: 2 },
    { perSecond: 1, burst: 2, keys: 100_000 },
  ]
  const one = openRateBuckets(memory, rates, () => 0n)
  const other = openRateBuckets(memory, rates, () => 0n)
  assert.deepEqual([one[0]!.take('a'), other[0]!.take('a')], [true, false])
  assert.deepEqual([one[1]!.take('a'), other[1]!.take('a'), one[1]!.take('a')], [true, true, false])
  assert.deepEqual([one[1]!.take('b'), one[1]!.take('b'), one[1]!.take('b')], [true, true, false])
})

test('a rate table tracks the configured number of keys', () => {
  const [buckets] = openRateBuckets(newBucketMemory(), [{ perSecond: 1, burst: 1, keys: 1000 }], () => 0n)
  const keys = Array.from({ length: 1000 }, (_, i) => `key ${i}`)
  for (const key of keys) assert.equal(buckets!.take(key), true, key)
  const forgotten = keys.filter((key) => buckets!.take(key))
  assert.ok(forgotten.length < 100, `${forgotten.length} keys forgotten`)
})

test('a rate table with more keys than fit into its memory is rejected', () => {
  const rate = { perSecond: 1, burst: 1, keys: 2 ** 31 - 1 }
  assert.throws(() => openRateBuckets(newBucketMemory(), [rate], () => 0n), RangeError)
})

test('all workers share one counter, and the count of an exited worker is subtracted', () => {
  const counts = new Int32Array(new SharedArrayBuffer(8))
  const first = new SharedCount(2, counts, 0)
  const second = new SharedCount(2, counts, 1)
  assert.deepEqual([first.enter(), second.enter(), first.enter(), second.enter()], [true, true, false, false])
  second.leave()
  assert.equal(first.enter(), true)
  assert.equal(second.enter(), false)
  const replaced = new SharedCount(2, counts, 0)
  assert.deepEqual([replaced.enter(), second.enter(), replaced.enter()], [true, true, false])
})

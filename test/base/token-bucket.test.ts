/** Tests token buckets: bursts, a steady rate, and the three methods that take tokens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBucket } from '../../src/base/limits/token-bucket.ts'

test('take() returns the time until the next token, and the token bucket refills up to its burst', () => {
  let now = 0
  const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, () => now)
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [0, 0, 100])
  now += 50
  assert.equal(bucket.take(), 50)
  now += 50
  assert.deepEqual([bucket.take(), bucket.take()], [0, 100])
  now += 10_000
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [0, 0, 100])
})

test('reserve() takes tokens from a token bucket in advance, so waiting times add up', () => {
  let now = 0
  const bucket = new TokenBucket({ perSecond: 10, burst: 1 }, () => now)
  assert.deepEqual([bucket.reserve(), bucket.reserve(), bucket.reserve()], [0, 100, 200])
  now += 200
  assert.equal(bucket.reserve(), 100)
})

test('spend() reads the clock only when the token bucket is empty', () => {
  let now = 0
  let reads = 0
  const clock = () => {
    reads++
    return now
  }
  const bucket = new TokenBucket({ perSecond: 100, burst: 1000 }, clock)
  assert.equal(reads, 1)
  for (let i = 0; i < 1000; i++) assert.equal(bucket.spend(1), true)
  assert.equal(reads, 1)
  assert.equal(bucket.spend(1), false)
  assert.equal(reads, 2)
  now += 1000
  assert.equal(bucket.spend(50), true)
  assert.equal(bucket.spend(1000), false)
})

test('tokens added to a token bucket never exceed the burst', () => {
  const bucket = new TokenBucket({ perSecond: 1, burst: 10 }, () => 0)
  bucket.add(100)
  assert.equal(bucket.spend(10), true)
  bucket.add(2.5)
  assert.deepEqual([bucket.spend(2), bucket.spend(1)], [true, false])
})

test('a token bucket with a rate or burst that never allows anything is rejected', () => {
  for (const limit of [
    { perSecond: 0, burst: 1 },
    { perSecond: 1, burst: 0 },
    { perSecond: Number.NaN, burst: 1 },
  ])
    assert.throws(() => new TokenBucket(limit, () => 0), RangeError)
})

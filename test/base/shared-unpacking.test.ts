/** Tests that concurrent readers share one unpacked copy, and that failures are not cached. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedUnpacking } from '../../src/base/collections/shared-unpacking.ts'

test('concurrent readers of the same compressed content share one copy', async () => {
  let unpacked = 0
  const unpack = sharedUnpacking(async (packed) => {
    unpacked++
    return Buffer.concat([packed, packed])
  })
  const a = Buffer.from('a')
  const b = Buffer.from('b')
  const [first, second, other] = await Promise.all([unpack(a), unpack(a), unpack(b)])
  assert.deepEqual([String(first), String(other)], ['aa', 'bb'])
  assert.equal(second, first)
  assert.equal(await unpack(a), first)
  assert.equal(unpacked, 2)
})

test('a decompression failure is reported to all waiting callers, and the next call tries again', async () => {
  let tries = 0
  const unpack = sharedUnpacking(async (packed) => {
    if (++tries === 1) throw new Error('damaged')
    return packed
  })
  const packed = Buffer.from('a')
  const outcomes = await Promise.allSettled([unpack(packed), unpack(packed)])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await unpack(packed), packed)
  assert.equal(tries, 2)
})

/** Tests byte queues: the order of the bytes, and memory use. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteQueue } from '../../src/base/collections/byte-queue.ts'

/** Returns a chunk of distinct bytes that is a view of a larger record. */
function part(size: number, recordBytes: number, first: number): Buffer {
  const record = Buffer.allocUnsafeSlow(Math.max(size, recordBytes))
  const view = record.subarray(record.length - size)
  for (let i = 0; i < size; i++) view[i] = (first + i) % 251
  return view
}

function memoryOf(parts: readonly Buffer[]): number {
  return [...new Set(parts.map(({ buffer }) => buffer))].reduce((bytes, { byteLength }) => bytes + byteLength, 0)
}

const sizes = [1, 3, 1, 5000, 1, 1, 2048, 2047, 16_384, 1, 300, 70_000, 1]

test('a byte queue returns bytes in order of arrival, regardless of how the bytes are split into parts', () => {
  for (const recordBytes of [1, 4096, 16_384]) {
    for (let count = 0; count <= sizes.length; count++) {
      const queue = new ByteQueue()
      let size = 0
      for (const bytes of sizes.slice(0, count)) {
        queue.add(part(bytes, recordBytes, size))
        size += bytes
      }
      const expected = part(size, size, 0)
      assert.equal(queue.size, size)
      assert.ok(queue.join().equals(expected))
      assert.ok(queue.join().equals(expected), 'a second time')
      assert.ok(Buffer.concat(queue.takeParts()).equals(expected))
      assert.equal(queue.size, 0)
      assert.equal(queue.join().length, 0)
    }
  }
})

test('a byte queue can be reused after its bytes were joined or cleared', () => {
  const queue = new ByteQueue()
  queue.add(Buffer.from('ab'))
  queue.add(Buffer.from('cd'))
  assert.equal(queue.join().toString(), 'abcd')
  queue.add(Buffer.from('ef'))
  assert.equal(queue.join().toString(), 'abcdef')
  queue.clear()
  queue.add(Buffer.from('gh'))
  assert.equal(queue.join().toString(), 'gh')
})

test('joined bytes of a byte queue do not change when more bytes are added', () => {
  const queue = new ByteQueue()
  for (let i = 0; i < 10; i++) queue.add(part(1, 1, i))
  const joined = queue.join()
  const text = joined.toString('hex')
  for (let i = 0; i < 1000; i++) queue.add(part(1, 1, 99))
  assert.equal(joined.toString('hex'), text)
})

test('a byte queue releases the memory of small parts', () => {
  for (const [size, count] of [
    [1, 10_000],
    [100, 1000],
    [4000, 100],
    [9000, 100],
  ] as const) {
    const queue = new ByteQueue()
    for (let i = 0; i < count; i++) queue.add(part(size, 16_384, i))
    const parts = queue.takeParts()
    assert.ok(memoryOf(parts) <= 2 * size * count + 256, `${memoryOf(parts)} bytes for ${count} parts of ${size}`)
    assert.ok(parts.length <= Math.max(20, count), `${parts.length} parts`)
  }
})

test('a byte queue does not copy a part that covers most of its buffer', () => {
  const queue = new ByteQueue()
  const lone = part(500, 900, 0)
  queue.add(lone)
  assert.equal(queue.join(), lone)
  assert.equal(queue.takeParts()[0], lone)
})

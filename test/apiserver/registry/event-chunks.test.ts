/** Tests the chunks in which a watch sends its initial objects and older events. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventChunks } from '../../../src/apiserver/registry/reads/event-chunks.ts'

const chunkBytes = 100

/** Sends events of the given sizes through two alternating buffers, and returns copies of the chunks. */
function chunksOf(sizes: readonly number[]) {
  const buffers = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)]
  const sentSizes: number[] = []
  let turns = 0
  const chunks = new EventChunks(
    () => buffers[turns++ % 2]!,
    (size) => sentSizes.push(size),
  )
  const events = sizes.map((size, i) => Buffer.from(`${i}:`.padEnd(size - 1, 'x').concat('\n')))
  const parts = events.map((event) => [event.subarray(0, 3), event.subarray(3)])
  const sent: string[] = []
  for (const half of [parts.slice(0, sizes.length / 2), parts.slice(sizes.length / 2)])
    for (const chunk of chunks.add(half)) sent.push(chunk.toString())
  for (const chunk of chunks.flush()) sent.push(chunk.toString())
  return { sent, sentSizes, text: Buffer.concat(events).toString() }
}

test('chunks contain whole events, in order, and each event is counted once', () => {
  const sizes = [10, 20, 60, 30, 100, 7, 250, 5, 99, 1 + 5, 94, 101, 12]
  const { sent, sentSizes, text } = chunksOf(sizes)
  assert.equal(sent.join(''), text)
  assert.deepEqual(sentSizes, sizes)
  for (const chunk of sent) assert.ok(chunk.endsWith('\n') && /^\d+:/.test(chunk))
})

test('events share a chunk as long as they fit into it, and a larger event gets a chunk of its own', () => {
  const { sent } = chunksOf([40, 40, 40, 300, 40, 40])
  assert.deepEqual(
    sent.map(({ length }) => length),
    [80, 40, 300, 80],
  )
})

test('an empty list of events results in no chunks', () => {
  assert.deepEqual(chunksOf([]).sent, [])
})

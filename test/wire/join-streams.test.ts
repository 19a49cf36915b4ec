/** Tests connected streams. No data is lost when one side ends, and both sides end when one side fails. */
import assert from 'node:assert/strict'
import { Duplex, duplexPair } from 'node:stream'
import { test } from 'node:test'
import { joinStreams } from '../../src/wire/http/join-streams.ts'
import { soon } from '../support/until.ts'

/** Returns a stream that accepts one chunk each time `next` is called. */
function slowReader() {
  const taken: Buffer[] = []
  const waiting: (() => void)[] = []
  const stream = new Duplex({
    writableHighWaterMark: 1024 * 1024,
    read: () => {},
    write: (chunk: Buffer, _encoding, done) => {
      waiting.push(() => {
        taken.push(chunk)
        done()
      })
    },
  })
  return { stream, taken, next: () => waiting.shift()?.() }
}

test('a slow stream still receives all data that the stream joined to it sent before closing', async () => {
  const slow = slowReader()
  const [near, far] = duplexPair()
  // By default, a socket ends both directions at the same time.
  near.allowHalfOpen = false
  const joined = joinStreams(slow.stream, near)
  for (let i = 0; i < 5; i++) far.write(`part ${i} `)
  far.end('the end')
  far.on('end', () => far.destroy()).resume()
  let isOver = false
  void joined.then(() => (isOver = true))
  for (let i = 0; i < 20; i++) {
    await new Promise(setImmediate)
    slow.next()
  }
  await soon(() => isOver || slow.stream.destroyed, 5000)
  assert.equal(Buffer.concat(slow.taken).toString(), 'part 0 part 1 part 2 part 3 part 4 the end')
  await joined
  assert.ok(near.destroyed && slow.stream.destroyed)
})

test('if one of two joined streams fails, both streams are closed', async () => {
  const [near, far] = duplexPair()
  const [left, right] = duplexPair()
  const joined = joinStreams(near, left)
  right.write('lost')
  near.destroy(new Error('broken'))
  await joined
  await soon(() => left.destroyed)
  far.destroy()
  right.destroy()
})

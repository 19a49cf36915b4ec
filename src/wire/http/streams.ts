/** Functions that write to a stream and wait until the stream has room or a buffer can be reused. */
import type { Writable } from 'node:stream'

/** Resolves when the stream has room for more data or is closed. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.once('drain', done)
    stream.once('close', done)
  })
}

/** Writes a chunk. Resolves when the caller may reuse the memory of the chunk, or when the stream is closed. */
export function passed(stream: Writable, chunk: Buffer): Promise<void> {
  if (stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      stream.off('close', done)
      resolve()
    }
    stream.once('close', done)
    stream.write(chunk, done)
  })
}

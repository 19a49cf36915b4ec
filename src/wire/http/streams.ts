/** What is written to a stream: waiting for room, and until its memory may be used again. */
import type { Writable } from 'node:stream'

/** Resolves when there is room for more, or nobody left to write to. */
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

/** Writes a chunk; resolves when the stream has done with its memory, or nobody is left to write to. */
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

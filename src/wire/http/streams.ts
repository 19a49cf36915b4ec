/** Functions that write to streams: they wait until there is room, or until a buffer can be reused. */
import type { Writable } from 'node:stream'

/** Resolves when there is room for more data or the stream is closed. */
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

/** Writes a chunk. Resolves when its memory can be reused or the stream is closed. */
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

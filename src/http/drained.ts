/** Back-pressure: waiting until a stream takes more. */
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

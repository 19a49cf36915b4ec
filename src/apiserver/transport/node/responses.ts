/** Helpers for sending responses through Node's HTTP modules. Both HTTP versions use them. */
import type { Writable } from 'node:stream'

/** Returns whether HTTP forbids a body in the response. */
export function isBodiless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

/** Resolves when all data has been flushed or the stream is closed. */
export function whenSent(stream: Writable): Promise<void> {
  if (stream.writableFinished || stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      stream.off('finish', done)
      stream.off('close', done)
      resolve()
    }
    stream.once('finish', done)
    stream.once('close', done)
  })
}

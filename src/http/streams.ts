/** What both protocols need of a stream: waiting for room, and hearing that the other side has gone. */
import type { Writable } from 'node:stream'

/** Resolves when there is room for more, or nobody left to write to. */
export function drained(stream: Writable): Promise<void> {
  return eventOrEnd(stream, 'drain')
}

/** Resolves when all that was written is on its way, or nobody is left to write to. */
export function taken(stream: Writable): Promise<void> {
  return stream.writableFinished || stream.destroyed ? Promise.resolve() : eventOrEnd(stream, 'finish')
}

function eventOrEnd(stream: Writable, event: 'drain' | 'finish'): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off(event, done)
      stream.off('close', done)
      resolve()
    }
    stream.once(event, done)
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

/** Aborts when the other side goes before all has been sent, which `isGone` decides for a stream that has closed. */
export function aborted(stream: Writable, isGone: () => boolean): AbortSignal {
  const gone = new AbortController()
  if (isGone()) gone.abort()
  else stream.on('close', () => isGone() && gone.abort())
  return gone.signal
}

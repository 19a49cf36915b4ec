/**
 * Connects two streams in both directions. When one stream ends, the other stream still receives all remaining data
 * before it is closed, provided that it keeps reading. When one stream fails, both are closed.
 */
import type { Duplex } from 'node:stream'

/** How long, in milliseconds, a stream may make no progress while it reads the remaining data. */
const lingerMs = 30_000

/** Connects two streams. Resolves when both streams are closed. */
export async function joinStreams(one: Duplex, other: Duplex): Promise<void> {
  const closed = [closedAfter(one, other), closedAfter(other, one)]
  copy(one, other)
  copy(other, one)
  await Promise.all(closed)
}

/**
 * Copies data from one stream to another. Only one chunk is written at a time, because each queued chunk takes separate
 * memory. Meanwhile, the source joins small chunks.
 */
function copy(from: Duplex, to: Duplex): void {
  from.on('data', (chunk: Buffer) => {
    from.pause()
    to.write(chunk, () => from.resume())
  })
  from.on('end', () => to.end())
}

/** Closes `other` after `side` has closed. Resolves once `side` has closed. */
function closedAfter(side: Duplex, other: Duplex): Promise<void> {
  side.on('error', () => other.destroy())
  return new Promise((resolve) => {
    side.on('close', () => {
      finish(other)
      resolve()
    })
    if (side.destroyed) {
      other.destroy()
      resolve()
    }
  })
}

function finish(stream: Duplex): void {
  if (stream.destroyed) return
  let unsentBytes = stream.writableLength
  const look = () => {
    if (stream.writableFinished || stream.writableLength === unsentBytes) stream.destroy()
    unsentBytes = stream.writableLength
  }
  const timer = setInterval(look, lingerMs)
  stream.on('close', () => clearInterval(timer))
  // Discard the remaining data, because nobody reads it.
  stream.resume()
  stream.end(() => stream.destroy())
}

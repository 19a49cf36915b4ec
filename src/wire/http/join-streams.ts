/**
 * Two connections made one: what one side says the other hears. When one side has ended, the other hears all that was said
 * before it is closed, if it takes that in time; when one breaks, so does the other.
 */
import type { Duplex } from 'node:stream'

/** How long a side may take nothing of what is left for it. */
const lingerMs = 30_000

/** Resolves when both are closed. */
export async function joinStreams(one: Duplex, other: Duplex): Promise<void> {
  const closed = [closedAfter(one, other), closedAfter(other, one)]
  one.pipe(other)
  other.pipe(one)
  await Promise.all(closed)
}

/** Closes `other` once `side` is closed, and resolves then. */
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
  let left = stream.writableLength
  const look = () => {
    if (stream.writableFinished || stream.writableLength === left) stream.destroy()
    left = stream.writableLength
  }
  const timer = setInterval(look, lingerMs)
  stream.on('close', () => clearInterval(timer))
  // Nobody listens to what it still says.
  stream.resume()
  stream.end(() => stream.destroy())
}

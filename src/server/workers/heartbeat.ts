/**
 * Whether the event loop of a worker turns: a worker counts on in shared memory, and the supervisor looks at the count. A
 * worker that stands still would keep its share of new connections waiting for good.
 */

/** How often a worker counts. */
export const heartbeatMs = 250
/** How often the supervisor looks. */
const lookMs = 1000
/** After so many looks at the same count a worker stands still: counted in looks, since a machine may have been asleep. */
const maxStill = 10

/** Calls `onStill` once when the count has not moved for some ten seconds. Returns what ends that. */
export function watchHeartbeat(count: Int32Array, onStill: () => void): () => void {
  let last = -1
  let still = 0
  const timer = setInterval(() => {
    const now = Atomics.load(count, 0)
    still = now === last ? still + 1 : 0
    last = now
    if (still < maxStill) return
    clearInterval(timer)
    onStill()
  }, lookMs).unref()
  return () => clearInterval(timer)
}

/**
 * Whether the event loop of a worker turns: a worker counts on in shared memory, and the supervisor looks at the count. A
 * worker that stands still would keep its share of new connections waiting for good.
 */

/** How often a worker counts. */
export const heartbeatMs = 250
/** How often the supervisor looks. */
const lookMs = 1000
/**
 * After so many looks at the same count a worker stands still: counted in looks, since a machine may have been asleep. One
 * that starts loads its program first, which takes a busy machine a while.
 */
const maxStill = 10
const maxStillAtStart = 30

/** Calls `onStill` once when the count has not moved for so many seconds. Returns what ends that. */
export function watchHeartbeat(
  count: Int32Array,
  isReady: () => boolean,
  onStill: (seconds: number) => void,
): () => void {
  let last = -1
  let still = 0
  const timer = setInterval(() => {
    const now = Atomics.load(count, 0)
    still = now === last ? still + 1 : 0
    last = now
    if (still < (isReady() ? maxStill : maxStillAtStart)) return
    clearInterval(timer)
    onStill((still * lookMs) / 1000)
  }, lookMs).unref()
  return () => clearInterval(timer)
}

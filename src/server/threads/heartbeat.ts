/**
 * Detects hanging workers. A worker increments a counter in shared memory, which the supervisor checks. A hanging
 * worker would block its share of new connections permanently.
 */

/** Interval in milliseconds at which a worker increments the counter. */
export const heartbeatMs = 250
/** Interval in milliseconds at which the supervisor checks the counter. */
const lookMs = 1000
/**
 * Number of checks with the same count after which a worker is considered to hang. The number of checks is used instead
 * of time, because the machine may have been suspended. A starting worker is allowed more, because loading the program
 * takes time on a busy machine.
 */
const maxStill = 10
const maxStillAtStart = 30

/**
 * Calls `onStill` once when the count has not changed for that many seconds. Returns a function that ends the checks.
 */
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

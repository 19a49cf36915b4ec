/**
 * Detects hanging workers. Each worker increments a counter in shared memory, which the supervisor checks. A worker
 * that hangs would permanently block its share of new connections.
 */

/** Interval in milliseconds at which a worker increments the counter. */
export const heartbeatMs = 250
/** Interval in milliseconds at which the supervisor checks the counter. */
const lookMs = 1000
/**
 * A worker is considered hung after this number of consecutive checks with the same count. The supervisor counts checks
 * rather than measuring time, because the machine may be suspended in between. A starting worker is allowed more
 * checks, because loading the program takes time on a busy machine.
 */
const maxStill = 10
const maxStillAtStart = 30

/** Calls `onStill` once if the counter stops increasing. Returns a function that stops the checks. */
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

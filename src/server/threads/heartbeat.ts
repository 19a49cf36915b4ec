/**
 * Detects hanging workers. Each worker increments a counter in shared memory, which the supervisor checks. A worker
 * that hangs would permanently block its share of new connections.
 */

/** How often a worker increments the counter, in milliseconds. */
export const heartbeatMs = 250
/** How often the supervisor checks the counter, in milliseconds. */
const lookMs = 1000
/**
 * Maximum number of checks with the same count. After these, a worker is considered to hang. Checks are counted instead
 * of measuring time, because the machine may have been suspended. A starting worker is allowed more checks, because
 * loading the program takes time on a busy machine.
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

/**
 * Exponential backoff with jitter. The delay doubles with each failure up to a limit. It is randomized so that clients
 * that failed together do not retry together. The caller waits for the delay.
 */
export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * Returns a delay between half of the full delay and all of it. `failures` is the number of consecutive failures, at
 * least 1.
 */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number, random = Math.random): number {
  const full = Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs)
  return full * (1 - random() / 2)
}

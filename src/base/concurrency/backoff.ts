/**
 * Exponential backoff with jitter. The delay doubles with each failure up to a limit, and is randomized so that clients
 * that failed at the same time do not all retry at the same time. The caller is responsible for waiting.
 */
export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * Returns a random delay between half of the full delay and the full delay. `failures` is the number of consecutive
 * failures and must be at least 1.
 */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number, random = Math.random): number {
  const full = Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs)
  return full * (1 - random() / 2)
}

/** How long to wait before trying again: doubling from failure to failure up to a limit, spread so that those who
 * failed together do not come back together. Pure; waiting is left to the caller. */
export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/** `failures` in a row so far, from 1. Between half of the full wait and all of it. */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number, random = Math.random): number {
  const full = Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs)
  return full * (1 - random() / 2)
}

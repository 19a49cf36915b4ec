/** Time, handed in rather than taken, so that tests can hold it still. */
export interface Clock {
  /** Wall clock in milliseconds since 1970: for what people and certificates read, never for measuring. */
  now(): number
  /** Milliseconds that only ever rise, whatever happens to the wall clock: for time-outs and ages. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

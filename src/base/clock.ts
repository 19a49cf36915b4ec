/** The clock, passed in as a parameter so that tests can control it. */
export interface Clock {
  /** Wall clock in milliseconds since 1970: for what people and certificates read, never for measuring. */
  now(): number
  /** Milliseconds that only ever rise, whatever happens to the wall clock: for time-outs and ages. */
  monotonic(): number
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** The clock, passed in as a parameter so that tests can control it. */
export interface Clock {
  /**
   * Returns the wall clock in milliseconds since 1970. Use it for timestamps and certificates, not for measuring
   * durations.
   */
  now(): number
  /** Returns monotonic milliseconds, which do not depend on the wall clock. Use it for timeouts and ages. */
  monotonic(): number
}

/** A clock with timers. */
export interface TimerClock extends Clock {
  /**
   * Calls `run` once after this many milliseconds. The timer does not keep the process alive. Returns a function that
   * cancels it.
   */
  after(ms: number, run: () => void): () => void
}

/** The system clock. */
export const systemClock: TimerClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** Calls `run` at this interval in milliseconds. Returns a function that stops the calls. */
export function repeat(clock: TimerClock, ms: number, run: () => void): () => void {
  const next = () => {
    cancel = clock.after(ms, next)
    run()
  }
  let cancel = clock.after(ms, next)
  return () => cancel()
}

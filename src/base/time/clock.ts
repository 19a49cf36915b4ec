/** A clock. Functions receive it as a parameter, so that tests can control the time. */
export interface Clock {
  /**
   * Returns the wall-clock time in milliseconds since 1970, for timestamps and certificates. Durations must be measured
   * with `monotonic`.
   */
  now(): number
  /** Returns monotonic milliseconds for timeouts and ages. Changes to the wall clock do not affect them. */
  monotonic(): number
}

/** A clock with timers. */
export interface TimerClock extends Clock {
  /**
   * Calls `run` once after `ms` milliseconds, and returns a function that cancels the timer. The timer does not keep
   * the process alive.
   */
  after(ms: number, run: () => void): () => void
}

/** The clock and the timers of the operating system. */
export const systemClock: TimerClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** Calls `run` every `ms` milliseconds, and returns a function that stops the calls. */
export function repeat(clock: TimerClock, ms: number, run: () => void): () => void {
  const next = () => {
    cancel = clock.after(ms, next)
    run()
  }
  let cancel = clock.after(ms, next)
  return () => cancel()
}

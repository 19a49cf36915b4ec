/** The clock, passed in as a parameter so that tests can control it. */
export interface Clock {
  /** Wall clock in milliseconds since 1970. For timestamps and certificates, never for measuring. */
  now(): number
  /** Monotonic milliseconds, independent of the wall clock. For timeouts and ages. */
  monotonic(): number
}

/** A clock with timers. */
export interface TimerClock extends Clock {
  /**
   * Calls `run` once after this many milliseconds, without keeping the process alive. Returns a function that cancels
   * the timer.
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

/** Calls `run` at this interval in milliseconds. Returns a function that ends this. */
export function repeat(clock: TimerClock, ms: number, run: () => void): () => void {
  const next = () => {
    cancel = clock.after(ms, next)
    run()
  }
  let cancel = clock.after(ms, next)
  return () => cancel()
}

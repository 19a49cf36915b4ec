/** The clock, passed in as a parameter so that tests can control it. */
export interface Clock {
  /** Wall clock in milliseconds since 1970: for what people and certificates read, never for measuring. */
  now(): number
  /** Milliseconds that only ever rise, whatever happens to the wall clock: for time-outs and ages. */
  monotonic(): number
}

/** A clock that can also be waited by. */
export interface TimerClock extends Clock {
  /**
   * Calls `run` once when so many milliseconds have passed, without keeping the process alive until then. Returns a
   * function that cancels this.
   */
  after(ms: number, run: () => void): () => void
}

/** The clock of this machine. */
export const systemClock: TimerClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** Calls `run` each time so many milliseconds have passed. Returns a function that ends this. */
export function repeat(clock: TimerClock, ms: number, run: () => void): () => void {
  const next = () => {
    cancel = clock.after(ms, next)
    run()
  }
  let cancel = clock.after(ms, next)
  return () => cancel()
}

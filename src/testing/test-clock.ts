/**
 * The clock of a test server. It follows the system clock, and a test can advance it. In both cases, each timer fires
 * when it is due, for example the timer of a control loop that deletes an object in an hour.
 *
 * The clock never goes backward. Otherwise, times that were stored or returned earlier could be in the future.
 */
import type { TimerClock } from '../base/time/clock.ts'
import { parseDuration } from '../base/time/duration.ts'

interface Waiting {
  /** Time at which the timer fires, on the monotonic clock. */
  readonly due: number
  readonly run: () => void
  timer: NodeJS.Timeout | undefined
}

/** Maximum delay of system timers in milliseconds. A timer with a longer delay is set several times in succession. */
const maxTimerMs = 2 ** 31 - 1

/** The clock of a test server, for tests. */
export interface ServerClock {
  /** Current time in milliseconds since 1970. */
  now(): number
  /**
   * Advances the clock by a number of milliseconds or by a duration such as `'1h30m'`. Each timer that becomes due
   * fires once, in order, before this method returns. Work that the timers start continues afterwards.
   */
  advance(by: number | string): void
}

/** The clock of a test server, which tests can advance. */
export class TestClock implements TimerClock, ServerClock {
  /** Offset from the system clock. */
  #wallAhead: number
  #monotonicAhead = 0
  readonly #waiting = new Set<Waiting>()

  /** Creates a clock. `start` is the initial time: a Date, or a value for `new Date(start)`. Defaults to now. */
  constructor(start?: Date | string | number) {
    this.#wallAhead = start === undefined ? 0 : readTime(start) - Date.now()
  }

  now(): number {
    return Date.now() + this.#wallAhead
  }

  monotonic(): number {
    return performance.now() + this.#monotonicAhead
  }

  /** Calls `run` once after this many milliseconds. Returns a function that cancels the timer. */
  after(ms: number, run: () => void): () => void {
    const waiting: Waiting = { due: this.monotonic() + ms, run, timer: undefined }
    this.#waiting.add(waiting)
    this.#arm(waiting)
    return () => this.#forget(waiting)
  }

  advance(by: number | string): void {
    const ms = readDuration(by)
    this.#wallAhead += ms
    this.#monotonicAhead += ms
    const now = this.monotonic()
    const due = [...this.#waiting].filter((waiting) => waiting.due <= now).sort((a, b) => a.due - b.due)
    for (const waiting of due) this.#fire(waiting)
    for (const waiting of this.#waiting) this.#arm(waiting)
  }

  /** Starts a system timer for the next due time. It does not keep the process alive. */
  #arm(waiting: Waiting): void {
    clearTimeout(waiting.timer)
    const ms = Math.min(Math.max(waiting.due - this.monotonic(), 0), maxTimerMs)
    waiting.timer = setTimeout(() => this.#fireIfDue(waiting), Math.ceil(ms)).unref()
  }

  #fireIfDue(waiting: Waiting): void {
    if (waiting.due <= this.monotonic()) this.#fire(waiting)
    else this.#arm(waiting)
  }

  /** Fires a timer, unless an earlier timer has cancelled it. */
  #fire(waiting: Waiting): void {
    if (!this.#waiting.has(waiting)) return
    this.#forget(waiting)
    waiting.run()
  }

  #forget(waiting: Waiting): void {
    clearTimeout(waiting.timer)
    this.#waiting.delete(waiting)
  }
}

function readTime(start: Date | string | number): number {
  const time = new Date(start).getTime()
  if (Number.isNaN(time))
    throw new TypeError(`${JSON.stringify(start)} is not a time: use a Date, or text such as 2030-01-01T00:00:00Z`)
  return time
}

function readDuration(by: number | string): number {
  const ms = typeof by === 'number' ? by : parseDuration(by)
  if (ms === undefined || !Number.isFinite(ms) || ms < 0)
    throw new TypeError(`${JSON.stringify(by)} is not a duration: use milliseconds, or text such as 90s or 1h30m`)
  return ms
}

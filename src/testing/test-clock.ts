/**
 * The clock of a test server: it runs on with that of the machine, and a test can move it forward. Whatever waits by it,
 * such as a control loop that deletes something in an hour, is called when its time has come either way.
 *
 * It never goes back: what a server has written, and what its clients have read, would else come from the future.
 */
import type { TimerClock } from '../base/time/clock.ts'
import { parseDuration } from '../base/time/duration.ts'

interface Waiting {
  /** On the monotonic clock. */
  readonly due: number
  readonly run: () => void
  timer: NodeJS.Timeout | undefined
}

/** The machine's timers hold no more; what is due later is looked at again then. */
const longestTimerMs = 2 ** 31 - 1

/** The clock of a test server, as a test sees it. */
export interface ServerClock {
  /** The time in milliseconds since 1970. */
  now(): number
  /**
   * Moves it forward: by milliseconds, or by a duration such as `'1h30m'`. What has become due by then is called in the
   * order in which it became due, each once, before this returns; what that begins goes on afterwards.
   */
  advance(by: number | string): void
}

/** A clock that can be moved forward. */
export class TestClock implements TimerClock, ServerClock {
  /** How far it is ahead of the clock of the machine. */
  #wallAhead: number
  #monotonicAhead = 0
  readonly #waiting = new Set<Waiting>()

  /** `start` is the time that it shows at first: a Date, or whatever `new Date(start)` reads; now by default. */
  constructor(start?: Date | string | number) {
    this.#wallAhead = start === undefined ? 0 : readTime(start) - Date.now()
  }

  now(): number {
    return Date.now() + this.#wallAhead
  }

  monotonic(): number {
    return performance.now() + this.#monotonicAhead
  }

  /** Calls `run` once when so many milliseconds have passed. Returns a function that cancels this. */
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

  /** Does not keep the process alive. */
  #arm(waiting: Waiting): void {
    clearTimeout(waiting.timer)
    const ms = Math.min(Math.max(waiting.due - this.monotonic(), 0), longestTimerMs)
    waiting.timer = setTimeout(() => this.#fireIfDue(waiting), Math.ceil(ms)).unref()
  }

  #fireIfDue(waiting: Waiting): void {
    if (waiting.due <= this.monotonic()) this.#fire(waiting)
    else this.#arm(waiting)
  }

  /** One that was called before may have cancelled it. */
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

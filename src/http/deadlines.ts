/**
 * The deadlines of the requests under way, looked after by one timer: a timer for each request would cost more than
 * many a request. A deadline is met within a quarter of a second.
 */
import type { Clock } from '../base/clock.ts'

export interface Bounded {
  /** When its time is over, on the monotonic clock. */
  deadline: number
}

const checkMs = 250

export class Deadlines<T extends Bounded> {
  readonly #open = new Set<T>()
  readonly #clock: Clock
  readonly #timer: NodeJS.Timeout

  constructor(clock: Clock, onLate: (bounded: T) => void) {
    this.#clock = clock
    this.#timer = setInterval(() => this.#check(onLate), checkMs)
    this.#timer.unref()
  }

  add(bounded: T, ms: number): void {
    bounded.deadline = this.#clock.monotonic() + ms
    this.#open.add(bounded)
  }

  delete(bounded: T): void {
    this.#open.delete(bounded)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #check(onLate: (bounded: T) => void): void {
    const now = this.#clock.monotonic()
    for (const bounded of this.#open) {
      if (bounded.deadline > now) continue
      this.#open.delete(bounded)
      onLate(bounded)
    }
  }
}

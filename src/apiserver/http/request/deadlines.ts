/**
 * The deadlines of the requests under way, looked after by one timer: a timer for each request would cost more than
 * many a request. A deadline is met within a quarter of a second.
 *
 * They are in an array, and each knows its place there: a set of what comes and goes at once is forever built anew.
 */
import type { Clock } from '../../../base/time/clock.ts'

export interface Bounded {
  /** When its time is over, on the monotonic clock. */
  deadline: number
  /** Where it stands among those whose time runs. */
  deadlineIndex: number
}

const checkMs = 250

export class Deadlines<T extends Bounded> {
  readonly #open: T[] = []
  readonly #clock: Clock
  readonly #timer: NodeJS.Timeout

  constructor(clock: Clock, onLate: (bounded: T) => void) {
    this.#clock = clock
    this.#timer = setInterval(() => this.#check(onLate), checkMs)
    this.#timer.unref()
  }

  add(bounded: T, deadline: number): void {
    bounded.deadline = deadline
    bounded.deadlineIndex = this.#open.push(bounded) - 1
  }

  /** Does nothing where its time was over before. */
  delete(bounded: T): void {
    if (this.#open[bounded.deadlineIndex] !== bounded) return
    const last = this.#open.pop()!
    if (last === bounded) return
    last.deadlineIndex = bounded.deadlineIndex
    this.#open[last.deadlineIndex] = last
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #check(onLate: (bounded: T) => void): void {
    const now = this.#clock.monotonic()
    const late = this.#open.filter(({ deadline }) => deadline <= now)
    for (const bounded of late) {
      this.delete(bounded)
      onLate(bounded)
    }
  }
}

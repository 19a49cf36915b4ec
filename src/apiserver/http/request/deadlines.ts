/**
 * Enforces the deadlines of all requests with a single timer, because a timer per request would often cost more than
 * the request itself. The timer checks the deadlines every 250 ms.
 *
 * The requests are stored in an array, and each request stores its index. A Set would be rehashed constantly, because
 * requests are added and removed so frequently.
 */
import type { Clock } from '../../../base/time/clock.ts'

export interface Bounded {
  /** The deadline as a time on the monotonic clock. */
  deadline: number
  /** The index of the request in the array of requests with a deadline. */
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

  /** Removes a request whose handling has ended. Does nothing if its deadline has passed. */
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

/**
 * Limits the work that one event-loop tick starts. A tick reads all connections that have data. Without a limit, a tick
 * with requests from 400 connections would run until all 400 have started, and later requests would wait even if seats
 * were free. Each tick therefore starts requests only up to a work budget. Other requests wait in their fair queues as
 * if no seats were free. In the next tick, they compete with the requests that have arrived since.
 *
 * The budget is fixed. If it depended on the duration of ticks, unrelated work that lengthens ticks would delay
 * requests.
 */

/** A pool in which requests wait for the next tick. */
export interface Waiting {
  /** Starts the next request. Returns false if no request can start, for example because no seats are free. */
  beginNext(): boolean
}

/**
 * Work budget per tick. A read that needs one seat costs one unit. Using up the whole budget takes about 5 ms on the
 * machine described in docs/understand/performance.md.
 */
const workPerTick = 32

/** Limits how much work each event-loop tick starts. */
export class TickBudget {
  #remainingWork = workPerTick
  #isUnderWay = false
  /** Pools whose requests wait for the next tick rather than for seats. */
  readonly #waiting = new Set<Waiting>()

  /** Takes work from the budget of this tick. Returns false if nothing is left. */
  take(work: number): boolean {
    if (!this.#isUnderWay) this.#begin()
    if (this.#remainingWork <= 0) return false
    // The last request of a tick may exceed the budget. Otherwise, a request larger than the budget could never start.
    this.#remainingWork -= work
    return true
  }

  /** Registers a pool. In the next tick, its `beginNext` is called until it returns false. */
  wait(waiting: Waiting): void {
    this.#waiting.add(waiting)
  }

  #begin(): void {
    this.#isUnderWay = true
    setImmediate(() => this.#end())
  }

  /** Ends the tick. Starts one request of each pool in turn, so that no priority level starves another. */
  #end(): void {
    this.#isUnderWay = false
    this.#remainingWork = workPerTick
    while (this.#waiting.size > 0 && this.#remainingWork > 0)
      for (const each of this.#waiting) {
        if (!each.beginNext()) this.#waiting.delete(each)
        if (this.#remainingWork <= 0) break
      }
  }
}

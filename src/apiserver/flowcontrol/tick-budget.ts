/**
 * Bounds the work that one event-loop tick starts. A tick reads all readable connections. Without a bound, a tick with
 * requests from 400 connections would take as long as all of them together, and later requests would wait for it even
 * if seats are free. A tick therefore starts requests up to a work budget. The rest wait in their fair queues as if no
 * seats were free, and compete in the next tick with the requests that have arrived meanwhile.
 *
 * The budget is fixed. A budget derived from tick duration would let unrelated work, which also lengthens ticks, delay
 * requests.
 */

/** Starts waiting requests. */
export interface Waiting {
  /** Starts the next request. Returns false if none can start, for example because no seats are free. */
  beginNext(): boolean
}

/** Work budget of a tick: this many single-seat reads, about 5 ms of work on the machine of docs/performance.md. */
const workPerTick = 32

/** Enforces the work budget of each tick. */
export class TickBudget {
  #remainingWork = workPerTick
  #isUnderWay = false
  /** Pools whose requests wait for a tick rather than for seats. */
  readonly #waiting = new Set<Waiting>()

  /** Takes a part of this tick's budget. Returns false if it is used up. */
  take(work: number): boolean {
    if (!this.#isUnderWay) this.#begin()
    if (this.#remainingWork <= 0) return false
    // The last request may exceed the budget; otherwise a large request could never start.
    this.#remainingWork -= work
    return true
  }

  /** Calls `beginNext` in the next tick until it returns false. */
  wait(waiting: Waiting): void {
    this.#waiting.add(waiting)
  }

  #begin(): void {
    this.#isUnderWay = true
    setImmediate(() => this.#end())
  }

  /** Starts one request of each pool in turn, so that no priority level starves the others. */
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

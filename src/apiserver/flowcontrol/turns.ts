/**
 * How much one turn of the event loop begins. A turn reads all connections that have something to read: without a bound,
 * one with requests of 400 connections takes as long as all of these together, and whoever comes next waits for it, however
 * free the seats are. So a turn begins requests up to a sum of work; the others wait in their fair queues as if there were
 * no seat, and the next turn, which has read what came meanwhile, begins those whose turn it is.
 *
 * The bound is fixed. One by the time that turns take would let work of other kinds, which also makes turns long, keep
 * requests waiting.
 */

/** Begins requests that wait. */
export interface Waiting {
  /** Begins the next one; false where none can begin, be it for seats. */
  beginNext(): boolean
}

/** What a turn begins: as many reads of one seat, some 5 ms of work on the machine of docs/performance.md. */
const workPerTurn = 32

/** Bounds what each turn begins. */
export class Turns {
  #left = workPerTurn
  #isUnderWay = false
  /** Those that wait for a turn and not for seats. */
  readonly #waiting = new Set<Waiting>()

  /** Takes a part of this turn's work. False: it is used up. */
  take(work: number): boolean {
    if (!this.#isUnderWay) this.#begin()
    if (this.#left <= 0) return false
    // The last one may need more than is left, so that nothing is too large for a turn.
    this.#left -= work
    return true
  }

  /** `beginNext` is called in the next turn, until it says that there is nothing to begin. */
  wait(waiting: Waiting): void {
    this.#waiting.add(waiting)
  }

  #begin(): void {
    this.#isUnderWay = true
    setImmediate(() => this.#end())
  }

  /** One of each in turn: no level keeps the others waiting. */
  #end(): void {
    this.#isUnderWay = false
    this.#left = workPerTurn
    while (this.#waiting.size > 0 && this.#left > 0)
      for (const each of this.#waiting) {
        if (!each.beginNext()) this.#waiting.delete(each)
        if (this.#left <= 0) break
      }
  }
}

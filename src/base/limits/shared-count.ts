/**
 * Counts what is under way in all workers of a process, so that a limit holds for all of them together. Each worker has a
 * number of its own in shared memory: what a worker had under way when it ended is forgotten as another takes its place.
 */

/** The count of one worker, and the limit of all of them. */
export class SharedCount {
  readonly #counts: Int32Array
  readonly #own: number
  readonly #max: number

  /** `counts` has a number for each worker, and `own` is the index of this one. */
  constructor(max: number, counts: Int32Array = new Int32Array(1), own = 0) {
    this.#counts = counts
    this.#own = own
    this.#max = max
    Atomics.store(counts, own, 0)
  }

  /** Whether one more may begin; `leave` must follow where it may. Two that begin at once may both be turned away. */
  enter(): boolean {
    Atomics.add(this.#counts, this.#own, 1)
    const all = this.#counts.reduce((sum, _, i) => sum + Atomics.load(this.#counts, i), 0)
    if (all <= this.#max) return true
    this.leave()
    return false
  }

  leave(): void {
    Atomics.sub(this.#counts, this.#own, 1)
  }
}

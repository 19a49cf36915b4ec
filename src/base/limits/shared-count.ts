/**
 * Counts running operations in all workers of a process, so that a limit applies to all of them together. Each worker
 * has its own number in shared memory, which is reset when another worker replaces it.
 */

/** The count of one worker and the common limit. */
export class SharedCount {
  readonly #counts: Int32Array
  readonly #own: number
  readonly #max: number

  /** `counts` has one number per worker, and `own` is the index of this one. */
  constructor(max: number, counts: Int32Array = new Int32Array(1), own = 0) {
    this.#counts = counts
    this.#own = own
    this.#max = max
    Atomics.store(counts, own, 0)
  }

  /**
   * Returns whether another operation may start. If so, call `leave` afterwards. Two concurrent calls may both be
   * rejected.
   */
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

/**
 * Counts running operations across all workers of a process, so that a limit applies to all workers together. Each
 * worker has a counter in shared memory. The counter is reset when the worker is replaced.
 */

/** One worker's counter, and the limit on the sum of all counters. */
export class SharedCount {
  readonly #counts: Int32Array
  readonly #own: number
  readonly #max: number

  /**
   * Creates the counter of a worker. `counts` contains one number per worker, and `own` is the index of this worker.
   */
  constructor(max: number, counts: Int32Array = new Int32Array(1), own = 0) {
    this.#counts = counts
    this.#own = own
    this.#max = max
    Atomics.store(counts, own, 0)
  }

  /**
   * Starts an operation if the limit allows it, and returns whether the operation was started. If it was, `leave` must
   * be called when the operation ends. Two concurrent calls may both be rejected although there is room for one of
   * them.
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

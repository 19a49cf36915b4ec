/** A clock for the embedded store that a test advances manually. */
import type { StoreClock } from '../../../src/storage/store/lmdb/owned-directory.ts'

/** A clock that advances only on request and then runs the timers that are due. */
export class HandClock implements StoreClock {
  #now = 0
  readonly #running = new Set<() => void>()

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  every(_milliseconds: number, run: () => void): () => void {
    this.#running.add(run)
    return () => this.#running.delete(run)
  }

  /** Advances by this many milliseconds. */
  pass(milliseconds: number): void {
    this.moveTo(this.#now + milliseconds)
  }

  moveTo(time: number): void {
    this.#now = time
    for (const run of this.#running) run()
  }
}

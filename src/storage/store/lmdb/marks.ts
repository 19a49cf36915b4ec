/** Records when each revision was reached, so that the history window can be limited by age. */
import type { Revision } from '../store.ts'

export class TimeMarks {
  #marks: { readonly time: number; readonly revision: Revision }[] = []

  add(time: number, revision: Revision): void {
    this.#marks.push({ time, revision })
  }

  /**
   * Returns the newest revision that had been reached by `time`, and drops older records. Returns undefined if all
   * records are newer.
   */
  reachedBy(time: number): Revision | undefined {
    const next = this.#marks.findIndex((mark) => mark.time > time)
    const last = (next === -1 ? this.#marks.length : next) - 1
    if (last < 0) return undefined
    this.#marks = this.#marks.slice(last)
    return this.#marks[0]!.revision
  }
}

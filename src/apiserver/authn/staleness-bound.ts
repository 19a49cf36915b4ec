/**
 * How far what this server holds may be behind the store when it authenticates a request. Where several servers share a
 * store, an object may be deleted at another one: half a second later no decision rests on it any more, whatever
 * happens to the connection. In between the store is not asked, however many requests come. A no is never decided by
 * what may be late: what is missing here may be there already.
 */

import type { Lookup } from '../../api/model/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'

/** With the time that a request takes this stays below a second. */
const boundMs = 500

/** Limits how far behind the store a cache may be when a credential is judged by it. */
export class StalenessBound {
  readonly #lookup: Lookup
  readonly #clock: Clock
  /** Everything that the store held then has been seen here. */
  #seenUpTo = Number.NEGATIVE_INFINITY

  constructor(lookup: Lookup, clock: Clock) {
    this.#lookup = lookup
    this.#clock = clock
  }

  /** The verdict of `judge`, on what is recent enough for it. Throws StoreError where the store cannot be asked. */
  decide(judge: () => boolean): boolean | Promise<boolean> {
    const now = this.#clock.monotonic()
    if (now - this.#seenUpTo < boundMs && judge()) return true
    const late = this.#lookup.waitUntilCurrent()
    if (late === undefined) return judge()
    return late.then(() => {
      this.#seenUpTo = Math.max(this.#seenUpTo, now)
      return judge()
    })
  }
}

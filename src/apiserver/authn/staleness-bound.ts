/**
 * Bounds the staleness of cached data that authentication uses. If several servers share a store, another server may
 * delete an object. After at most half a second, authentication no longer uses the object, even if the connection to
 * the store does not respond. Within that half second, authentication does not query the store, regardless of the
 * number of requests. Rejections never depend on stale data, because a missing object may already exist in the store.
 */

import type { Lookup } from '../../api/model/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'

/** Maximum staleness in milliseconds. The staleness plus the duration of a request stays below a second. */
const boundMs = 500

/** Bounds the staleness of cached data that authentication uses. */
export class StalenessBound {
  readonly #lookup: Lookup
  readonly #clock: Clock
  /** Time up to which the cache is known to contain all changes. */
  #seenUpTo = Number.NEGATIVE_INFINITY

  constructor(lookup: Lookup, clock: Clock) {
    this.#lookup = lookup
    this.#clock = clock
  }

  /**
   * Returns the decision of `judge`. If the cached data is too old, or if `judge` returns false, waits for the latest
   * data and then calls `judge` again. Throws StoreError if the store cannot be reached.
   */
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

/**
 * Loads a cache that is added while the feed is running.
 *
 * The load lists the store while the feed continues. In the meantime, it records the last change of each object. When
 * the list is complete, it applies the recorded changes, so no change is lost or applied twice. The cache has no
 * readers or watchers until it is loaded, so these changes produce no events.
 */
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Change, Entry, Revision } from '../store/store.ts'
import type { KindCache, Load } from './kind-cache.ts'

/** Estimated cost of adding one object, charged to the time slice. */
const entryCost = 10

export class LateLoad {
  readonly #cache: KindCache
  readonly #load: Load
  readonly #timeSlice = new TimeSlice()
  /** The last change of each object since the load started, by key. */
  readonly #changesByKey = new Map<string, Change>()

  constructor(cache: KindCache) {
    this.#cache = cache
    this.#load = cache.beginLoad()
  }

  /** Records a change that the feed delivered before the list was complete. */
  note(change: Change): void {
    this.#changesByKey.set(change.key, change)
  }

  async take(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      this.#cache.load(this.#load, entry)
      if (this.#timeSlice.charge(entryCost)) await this.#timeSlice.yieldIfDue()
    }
  }

  /** Completes the load with a list at the given revision. The feed updates the cache after this call. */
  finish(listRevision: Revision): void {
    let through = listRevision
    for (const change of this.#changesByKey.values()) {
      if (change.revision <= listRevision) continue
      this.#put(change)
      through = Math.max(through, change.revision)
    }
    this.#cache.loaded(this.#load, through)
  }

  #put({ key, revision, value }: Change): void {
    this.#load.objects.delete(key)
    this.#load.unreadable.delete(key)
    if (value !== undefined) this.#cache.load(this.#load, { key, revision, value })
  }
}

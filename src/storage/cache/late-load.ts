/**
 * The load of a cache that is added while the feed runs.
 *
 * The store is listed while changes go on. Those that the feed brings meanwhile are noted, the last one of each object,
 * and put on top of the list when it is whole: so nothing is lost between the two, and nothing counts twice. Nobody
 * reads or watches the cache before that, so no events are made of what happened until then.
 */
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Change, Entry, Revision } from '../store/store.ts'
import type { KindCache, Load } from './kind-cache.ts'

/** What it costs to take an object in, in the units of a Pace. */
const entryCost = 10

export class LateLoad {
  readonly #cache: KindCache
  readonly #load: Load
  readonly #pace = new TimeSlice()
  /** By key: as many as the cache will have objects, or had. */
  readonly #noted = new Map<string, Change>()

  constructor(cache: KindCache) {
    this.#cache = cache
    this.#load = cache.beginLoad()
  }

  /** The feed brought this change before the list was whole. */
  note(change: Change): void {
    this.#noted.set(change.key, change)
  }

  async take(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      this.#cache.load(this.#load, entry)
      if (this.#pace.charge(entryCost)) await this.#pace.yieldIfDue()
    }
  }

  /** The list is whole, as of this revision: from now on the cache is fed like any other. */
  finish(listed: Revision): void {
    let through = listed
    for (const change of this.#noted.values()) {
      if (change.revision <= listed) continue
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

/**
 * The selector indexes of one kind. The first selector that uses a label or field starts building an index. Until the
 * index is complete, lists scan all objects.
 */
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { CachedObject } from './cached-object.ts'
import { type IndexDemand, SelectorIndex } from './selector-index.ts'

/** Maximum number of indexed labels and fields per kind. Selectors on other labels and fields scan all objects. */
const maxIndexes = 16
/**
 * Maximum number of objects that a query reads from an index, because an index returns them all at once. If there are
 * more matches, the query scans all objects in slices instead.
 */
const maxFound = 5000

interface Objects {
  get(key: string): CachedObject | undefined
  /** Yields all objects in slices, as of the time of the call. */
  slices(): Iterable<CachedObject[]>
}

export class SelectorIndexes {
  /** The indexes, by label or field. */
  readonly #indexes = new Map<string, SelectorIndex>()
  readonly #objects: Objects

  constructor(objects: Objects) {
    this.#objects = objects
  }

  /**
   * Returns the objects whose label or field has one of the given values, in key order, including objects whose value
   * is unknown. Returns undefined if the index is not complete yet or if there are too many matches.
   */
  find(demand: IndexDemand): CachedObject[] | undefined {
    const name = `${demand.source} ${demand.key}`
    if (!this.#indexes.has(name) && this.#indexes.size < maxIndexes) void this.#build(name, demand)
    const index = this.#indexes.get(name)
    return index?.complete ? index.find(demand.values, maxFound) : undefined
  }

  /** Updates all indexes after an object has changed. */
  replace(previous: CachedObject | undefined, next: CachedObject | undefined): void {
    for (const index of this.#indexes.values()) {
      if (previous) index.remove(previous)
      if (next) index.add(next)
    }
  }

  /** Removes all indexes because all objects have been replaced. */
  clear(): void {
    this.#indexes.clear()
  }

  /**
   * Builds an index in one step if there are few objects, and in slices otherwise. Changes in the meantime update the
   * index as usual.
   */
  async #build(name: string, demand: IndexDemand): Promise<void> {
    const index = new SelectorIndex(demand)
    this.#indexes.set(name, index)
    const timeSlice = new TimeSlice()
    for (const slice of this.#objects.slices()) {
      for (const object of slice) if (this.#objects.get(object.key) === object) index.add(object)
      if (timeSlice.charge(slice.length)) await timeSlice.yieldIfDue()
      if (this.#indexes.get(name) !== index) return
    }
    index.complete = true
  }
}

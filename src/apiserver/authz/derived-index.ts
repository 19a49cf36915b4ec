/**
 * An in-memory index, such as an index of permissions, that is derived from the objects of some kinds.
 *
 * Changes are recorded as they arrive and processed by the next query. Queries therefore always reflect the state of
 * the caches, and an unused index costs almost nothing. A few changes are processed synchronously. Many changes, or all
 * objects of a kind (for example after startup), are processed in time slices while queries wait.
 */

import type { Lookup, ObjectName, StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'

/** A kind of object from which an index is derived. */
export interface Source {
  readonly type: StoredType
  /** Updates the index after a change to one object. `object` is undefined if it was deleted. */
  readonly take: (name: ObjectName, object: ApiObject | undefined) => void
  /** Removes the entries derived from all objects of the kind. */
  readonly clear: () => void
}

/** Maximum number of changes to process synchronously. */
const fewChanges = 200
/** Estimated cost of processing one object, charged to the time slice. */
const unitsPerObject = 20

/** Tracks changes to objects of some kinds, and passes the changed objects to their sources before each query. */
export class DerivedIndex {
  readonly #lookup: Lookup
  readonly #pending = new Map<Source, Map<string, ObjectName>>()
  /** Kinds whose objects must all be processed again, for example because the caches were reloaded. */
  readonly #whole = new Set<Source>()
  #working: Promise<void> | undefined
  /** Number of changes that have arrived but are not in the index yet. */
  #pendingChanges = 0
  /** Incremented for each processed change, so that code that uses the index can detect changes. */
  generation = 0

  /** Creates the index. Sources of kinds that this server does not store are treated as empty. */
  constructor(lookup: Lookup, sources: readonly Source[]) {
    this.#lookup = lookup
    for (const source of sources) this.#follow(source)
  }

  /** Resolves when the index contains all changes received so far. Returns undefined if it already does. */
  current(): Promise<void> | undefined {
    if (this.#working !== undefined) return this.#working
    if (this.#pendingChanges === 0 && this.#whole.size === 0) return undefined
    if (this.#pendingChanges > fewChanges || this.#whole.size > 0) return this.#takeSlowly()
    for (const [source, names] of this.#pending) for (const name of names.values()) this.#take(source, name)
    return undefined
  }

  #follow(source: Source): void {
    const names = new Map<string, ObjectName>()
    const note = ({ namespace, name }: ObjectName) => {
      const { size } = names
      names.set(`${namespace}/${name}`, { namespace, name })
      this.#pendingChanges += names.size - size
    }
    const followed = this.#lookup.follow(source.type, {
      changed: note,
      reset: () => {
        source.clear()
        this.generation++
        this.#whole.add(source)
        this.#pendingChanges -= names.size
        names.clear()
      },
    })
    if (followed) this.#pending.set(source, names)
  }

  #takeSlowly(): Promise<void> {
    this.#working = this.#takeAll().finally(() => {
      this.#working = undefined
    })
    return this.#working
  }

  async #takeAll(): Promise<void> {
    const timeSlice = new TimeSlice()
    while (this.#pendingChanges > 0 || this.#whole.size > 0) {
      for (const source of this.#whole) await this.#takeWhole(source, timeSlice)
      for (const [source, names] of this.#pending) {
        for (const name of names.values()) {
          this.#take(source, name)
          if (timeSlice.charge(unitsPerObject)) await timeSlice.yieldIfDue()
        }
      }
    }
  }

  /**
   * Processes all objects of a kind. Changes that arrive in the meantime are processed afterwards. Starts over if the
   * cache is reloaded.
   */
  async #takeWhole(source: Source, timeSlice: TimeSlice): Promise<void> {
    this.#whole.delete(source)
    for (const [{ namespace, name }, object] of this.#lookup.readAllUncached(source.type)) {
      this.generation++
      source.take({ namespace, name }, object)
      if (timeSlice.charge(unitsPerObject)) await timeSlice.yieldIfDue()
      if (this.#whole.has(source)) return
    }
  }

  #take(source: Source, name: ObjectName): void {
    this.#pending.get(source)!.delete(`${name.namespace}/${name.name}`)
    this.#pendingChanges--
    this.generation++
    source.take(name, this.#lookup.readUncached(source.type, name))
  }
}

/**
 * What is made of the objects of a few kinds and kept in memory, such as an index of rights.
 *
 * A change is noted in the moment in which this server hears of it, and taken in when somebody asks next: who asks never
 * sees less than the caches hold, and what nobody asks for costs nothing. A few changes are taken in at once; many, or
 * whole kinds, as after a start, in stretches, and who asks meanwhile waits.
 */

import type { Lookup, ObjectName, StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'

/** One kind that something is made of. */
export interface Source {
  readonly type: StoredType
  /** Puts what is made of this object in the place of what was made of it before; undefined: the object is gone. */
  readonly take: (name: ObjectName, object: ApiObject | undefined) => void
  /** Forgets what was made of all objects of the kind. */
  readonly clear: () => void
}

/** As many as can be taken in at once, without anybody noticing. */
const fewChanges = 200
/** What reading one object costs, in units of a pace. */
const unitsPerObject = 20

export class DerivedIndex {
  readonly #lookup: Lookup
  readonly #pending = new Map<Source, Map<string, ObjectName>>()
  /** Kinds of which all objects are to be taken in. */
  readonly #whole = new Set<Source>()
  #working: Promise<void> | undefined
  /** How many changes have been noted and not taken in. */
  #noted = 0
  /** Moves on with whatever is taken in. */
  generation = 0

  /** Kinds that are not stored here have no objects. */
  constructor(lookup: Lookup, sources: readonly Source[]) {
    this.#lookup = lookup
    for (const source of sources) this.#follow(source)
  }

  /** Undefined when all that was heard of is taken in; else resolves when it is. */
  current(): Promise<void> | undefined {
    if (this.#working !== undefined) return this.#working
    if (this.#noted === 0 && this.#whole.size === 0) return undefined
    if (this.#noted > fewChanges || this.#whole.size > 0) return this.#takeSlowly()
    for (const [source, names] of this.#pending) for (const name of names.values()) this.#take(source, name)
    return undefined
  }

  #follow(source: Source): void {
    const names = new Map<string, ObjectName>()
    const note = ({ namespace, name }: ObjectName) => {
      const { size } = names
      names.set(`${namespace}/${name}`, { namespace, name })
      this.#noted += names.size - size
    }
    const followed = this.#lookup.follow(source.type, {
      changed: note,
      reset: () => {
        source.clear()
        this.generation++
        this.#whole.add(source)
        this.#noted -= names.size
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
    const pace = new TimeSlice()
    while (this.#noted > 0 || this.#whole.size > 0) {
      for (const source of this.#whole) await this.#takeWhole(source, pace)
      for (const [source, names] of this.#pending) {
        for (const name of names.values()) {
          this.#take(source, name)
          if (pace.charge(unitsPerObject)) await pace.yieldIfDue()
        }
      }
    }
  }

  /** What changes meanwhile is noted, and taken in afterwards; when all are loaded anew, it begins again. */
  async #takeWhole(source: Source, pace: TimeSlice): Promise<void> {
    this.#whole.delete(source)
    for (const [{ namespace, name }, object] of this.#lookup.readAllUncached(source.type)) {
      this.generation++
      source.take({ namespace, name }, object)
      if (pace.charge(unitsPerObject)) await pace.yieldIfDue()
      if (this.#whole.has(source)) return
    }
  }

  #take(source: Source, name: ObjectName): void {
    this.#pending.get(source)!.delete(`${name.namespace}/${name.name}`)
    this.#noted--
    this.generation++
    source.take(name, this.#lookup.readUncached(source.type, name))
  }
}

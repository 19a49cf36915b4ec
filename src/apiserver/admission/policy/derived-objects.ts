/**
 * Caches a value derived from each object of a kind. After changes, rereads only the changed objects.
 */
import type { Lookup, ObjectName, StoredType } from '../../../api/model/lookup.ts'

/**
 * Computes the value for an object. Undefined means that the object has no value. `before` is the value for the
 * object's previous state.
 */
type Derive<O, T> = (name: string, object: O, before: T | undefined) => T | undefined

export class DerivedObjects<O, T> {
  /** Whether the server stores objects of this kind. If not, there is nothing to track. */
  readonly isStored: boolean
  readonly #lookup: Lookup
  readonly #type: StoredType<O>
  readonly #derive: Derive<O, T>
  readonly #values = new Map<string, T>()
  #changed: Map<string, ObjectName> | 'all' = 'all'

  /** Starts tracking the objects. Instances must be created before the caches are loaded. */
  constructor(lookup: Lookup, type: StoredType<O>, derive: Derive<O, T>) {
    this.#lookup = lookup
    this.#type = type
    this.#derive = derive
    this.isStored = lookup.follow(
      { group: type.group, plural: type.plural },
      {
        changed: (name) => {
          if (this.#changed !== 'all') this.#changed.set(name.name, name)
        },
        reset: () => {
          this.#changed = 'all'
        },
      },
    )
  }

  /** Recomputes the values of objects that changed since the last call. Returns whether there were any. */
  refresh(): boolean {
    const changed = this.#changed
    if (changed !== 'all' && changed.size === 0) return false
    this.#changed = new Map()
    if (changed === 'all') this.#readAll()
    else for (const name of changed.values()) this.#read(name.name, this.#lookup.readUncached(this.#type, name))
    return true
  }

  values(): Iterable<T> {
    return this.#values.values()
  }

  #readAll(): void {
    const before = new Set(this.#values.keys())
    for (const [{ name }, object] of this.#lookup.readAllUncached(this.#type)) {
      before.delete(name)
      this.#read(name, object)
    }
    for (const name of before) this.#values.delete(name)
  }

  #read(name: string, object: O | undefined): void {
    const value = object && this.#derive(name, object, this.#values.get(name))
    if (value === undefined) this.#values.delete(name)
    else this.#values.set(name, value)
  }
}

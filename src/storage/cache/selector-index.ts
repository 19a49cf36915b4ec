/**
 * Indexes the objects of a kind by the values of one label or field. The index is built when a selector first uses the
 * label or field, and every change to an object updates it. The cost of a list request with such a selector therefore
 * depends on the size of the result, not on the size of the cache.
 */
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import type { CachedObject } from './cached-object.ts'

/** A condition that an index can evaluate: a label or a field must have one of the given values. */
export interface IndexDemand {
  readonly source: 'labels' | 'fields'
  readonly key: string
  readonly values: ReadonlySet<string>
}

export class SelectorIndex {
  /** Whether the index already contains all objects. */
  complete = false
  readonly #source: IndexDemand['source']
  readonly #name: string
  /**
   * The objects by the value of the label or field. The key `undefined` is for objects whose value is unknown because
   * they were stored before their kind had the field.
   */
  readonly #byValue = new Map<string | undefined, Map<string, CachedObject>>()

  constructor({ source, key }: Pick<IndexDemand, 'source' | 'key'>) {
    this.#source = source
    this.#name = key
  }

  add(object: CachedObject): void {
    const value = this.#valueOf(object)
    if (value === undefined && this.#source === 'labels') return
    const objects = this.#byValue.get(value) ?? new Map()
    this.#byValue.set(value, objects.set(object.key, object))
  }

  remove(object: CachedObject): void {
    const value = this.#valueOf(object)
    const objects = this.#byValue.get(value)
    objects?.delete(object.key)
    if (objects?.size === 0) this.#byValue.delete(value)
  }

  /**
   * Returns the objects that have one of the values or whose value is unknown, in key order. Returns undefined if there
   * are more than `limit` such objects.
   */
  find(values: Iterable<string>, limit: number): CachedObject[] | undefined {
    const matches: CachedObject[] = []
    for (const value of [undefined, ...values]) {
      const objects = this.#byValue.get(value)
      if (objects === undefined) continue
      if (matches.length + objects.size > limit) return undefined
      matches.push(...objects.values())
    }
    return matches.sort((a, b) => compareUtf8(a.key, b.key))
  }

  #valueOf({ selectable }: CachedObject): string | undefined {
    const values = selectable[this.#source]
    return values !== undefined && Object.hasOwn(values, this.#name) ? values[this.#name] : undefined
  }
}

/**
 * Indexes the objects of a kind by the values of one label. The index is built when a selector first uses the label,
 * and then kept up to date. The cost of listing by label therefore depends on the size of the result, not of the cache.
 */
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import type { CachedObject } from './cached-object.ts'

/** A selector's requirement that a label has one of these values, which an index can answer. */
export interface LabelDemand {
  readonly key: string
  readonly values: ReadonlySet<string>
}

export class LabelIndex {
  /** Whether the index contains all objects. */
  complete = false
  readonly #label: string
  readonly #byValue = new Map<string, Map<string, CachedObject>>()

  constructor(label: string) {
    this.#label = label
  }

  add(object: CachedObject): void {
    const value = this.#valueOf(object)
    if (value === undefined) return
    const objects = this.#byValue.get(value) ?? new Map()
    this.#byValue.set(value, objects.set(object.key, object))
  }

  remove(object: CachedObject): void {
    const value = this.#valueOf(object)
    if (value === undefined) return
    const objects = this.#byValue.get(value)
    objects?.delete(object.key)
    if (objects?.size === 0) this.#byValue.delete(value)
  }

  /**
   * Returns the objects whose label has one of these values, in key order. Undefined if there are more than `limit`.
   */
  find(values: Iterable<string>, limit: number): CachedObject[] | undefined {
    const matches: CachedObject[] = []
    for (const value of values) {
      const objects = this.#byValue.get(value)
      if (objects === undefined) continue
      if (matches.length + objects.size > limit) return undefined
      matches.push(...objects.values())
    }
    return matches.sort((a, b) => compareUtf8(a.key, b.key))
  }

  #valueOf({ selectable: { labels } }: CachedObject): string | undefined {
    return labels !== undefined && Object.hasOwn(labels, this.#label) ? labels[this.#label] : undefined
  }
}

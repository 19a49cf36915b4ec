/**
 * The objects of a kind by the values of one label. Made when a selector first asks for that label, and kept up to date
 * from then on, so that a list by label costs what it returns and not what there is.
 */
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import type { CachedObject } from './cached-object.ts'

/** A selector's demand that a label has one of these values: what an index can answer. */
export interface LabelDemand {
  readonly key: string
  readonly values: ReadonlySet<string>
}

export class LabelIndex {
  /** Whether all objects are in it. */
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

  /** The objects whose label has one of these values, in key order; undefined if they are more than `limit`. */
  find(values: Iterable<string>, limit: number): CachedObject[] | undefined {
    const found: CachedObject[] = []
    for (const value of values) {
      const objects = this.#byValue.get(value)
      if (objects === undefined) continue
      if (found.length + objects.size > limit) return undefined
      found.push(...objects.values())
    }
    return found.sort((a, b) => compareUtf8(a.key, b.key))
  }

  #valueOf({ selectable: { labels } }: CachedObject): string | undefined {
    return labels !== undefined && Object.hasOwn(labels, this.#label) ? labels[this.#label] : undefined
  }
}

/**
 * Finds the unchanged parts of a value. Each part is compared only once, at any depth, because the result for a part is
 * reused when its parents are compared.
 */
import { isObject, type Json, own } from '../json/json.ts'

/** Compares values with their previous versions, and remembers the results. */
export class Changes {
  readonly #known = new Map<object, { readonly previous: Json | undefined; readonly isSame: boolean }>()

  /** Whether both values are equal, regardless of member order. */
  isSame(value: Json, previous: Json | undefined): boolean {
    if (value === previous) return true
    if (typeof value !== 'object' || value === null || typeof previous !== 'object' || previous === null) return false
    const cachedComparison = this.#known.get(value)
    if (cachedComparison !== undefined && cachedComparison.previous === previous) return cachedComparison.isSame
    const isSame = this.#hasSameParts(value, previous)
    this.#known.set(value, { previous, isSame })
    return isSame
  }

  #hasSameParts(value: Json, previous: Json): boolean {
    if (Array.isArray(value))
      return (
        Array.isArray(previous) &&
        value.length === previous.length &&
        value.every((item, i) => this.isSame(item, previous[i]))
      )
    if (!isObject(value) || !isObject(previous)) return false
    const names = Object.keys(value)
    return (
      names.length === Object.keys(previous).length &&
      names.every((name) => Object.hasOwn(previous, name) && this.isSame(value[name]!, own(previous, name)))
    )
  }
}

/** Finds objects of an informer by a value that is derived from them: the pods of a node, what an owner owns. */

/** The values under which an object is found; none: it is not. */
export type IndexFunction<T> = (object: T) => Iterable<string | undefined>

/** A look-up by value, kept up to date with the informer that it belongs to. */
export interface Index<T> {
  /** The objects with this value, in no order. */
  get(value: string): T[]
  /** How many objects have this value. */
  count(value: string): number
  /** All values that there are. */
  values(): Iterable<string>
}

/** An index as its informer sees it. */
export class ObjectIndex<T> implements Index<T> {
  readonly #valuesOf: IndexFunction<T>
  readonly #byValue = new Map<string, Map<string, T>>()

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf
  }

  get(value: string): T[] {
    return [...(this.#byValue.get(value)?.values() ?? [])]
  }

  count(value: string): number {
    return this.#byValue.get(value)?.size ?? 0
  }

  values(): Iterable<string> {
    return this.#byValue.keys()
  }

  replace(key: string, previous: T | undefined, object: T | undefined): void {
    if (previous !== undefined) for (const value of this.#valuesOf(previous)) this.#remove(value, key)
    if (object !== undefined) for (const value of this.#valuesOf(object)) this.#add(value, key, object)
  }

  #add(value: string | undefined, key: string, object: T): void {
    if (value === undefined) return
    const found = this.#byValue.get(value) ?? new Map<string, T>()
    this.#byValue.set(value, found.set(key, object))
  }

  #remove(value: string | undefined, key: string): void {
    if (value === undefined) return
    const found = this.#byValue.get(value)
    found?.delete(key)
    if (found?.size === 0) this.#byValue.delete(value)
  }
}

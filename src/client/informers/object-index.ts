/** An index of an informer's objects by a derived value, such as pods by node or objects by owner. */

/** Returns the values under which an object can be found. An object without values is not in the index. */
export type IndexFunction<T> = (object: T) => Iterable<string | undefined>

/** An index that its informer updates. */
export interface Index<T> {
  /** Returns the objects with the given value in no particular order. */
  get(value: string): T[]
  /** Returns the number of objects with the given value. */
  count(value: string): number
  /** Returns all values of the index. */
  values(): Iterable<string>
}

/** An index with the methods that keep it up to date. Only the informer of the index calls these methods. */
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
    const objectsByKey = this.#byValue.get(value) ?? new Map<string, T>()
    this.#byValue.set(value, objectsByKey.set(key, object))
  }

  #remove(value: string | undefined, key: string): void {
    if (value === undefined) return
    const objectsByKey = this.#byValue.get(value)
    objectsByKey?.delete(key)
    if (objectsByKey?.size === 0) this.#byValue.delete(value)
  }
}

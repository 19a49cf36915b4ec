/**
 * A binary min-heap. The heap does not remove outdated values. The owner of the heap skips such values when they reach
 * the top.
 */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean
  readonly #values: T[] = []

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#values.length
  }

  /** Returns the smallest value without removing it. */
  peek(): T | undefined {
    return this.#values[0]
  }

  push(value: T): void {
    const values = this.#values
    let at = values.push(value) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(value, values[parent]!)) break
      values[at] = values[parent]!
      at = parent
    }
    values[at] = value
  }

  /** Removes and returns the smallest value. */
  pop(): T | undefined {
    const [first] = this.#values
    const last = this.#values.pop()
    if (this.#values.length > 0) this.#sink(last!)
    return first
  }

  #sink(value: T): void {
    const values = this.#values
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= values.length) break
      if (child + 1 < values.length && this.#isBefore(values[child + 1]!, values[child]!)) child++
      if (!this.#isBefore(values[child]!, value)) break
      values[at] = values[child]!
      at = child
    }
    values[at] = value
  }
}

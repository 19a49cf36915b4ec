/**
 * A map with a maximum size, for caches. `set` makes an entry the newest and evicts the oldest entries if the map is
 * full. `get` does not change the order. `use` returns a value and makes its entry the newest, so a cache that reads
 * only with `use` evicts the least recently used entries.
 *
 * A large map evicts one in 64 entries at a time, because a JavaScript Map finds its oldest entry only by skipping the
 * gaps that earlier deletions left. With 8192 entries, an insertion that evicts a single entry takes 6.2 µs. With
 * batched eviction, an insertion takes 0.6 µs on average.
 */
const shareEvicted = 1 / 64

/** A map with at most `maxSize` entries, in the order in which they were set. */
export class BoundedMap<K, V> {
  readonly #maxSize: number
  readonly #entries = new Map<K, V>()

  constructor(maxSize: number) {
    if (!(maxSize >= 1)) throw new RangeError('the capacity of a bounded map must be at least 1')
    this.#maxSize = maxSize
  }

  get size(): number {
    return this.#entries.size
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  /** Like `get`, but also makes the entry the newest. */
  use(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /**
   * Sets a value and returns the values that were evicted to make room, so that the caller can release their resources.
   */
  set(key: K, value: V): readonly V[] {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return this.#entries.size > this.#maxSize ? this.#evict() : none
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** Iterates over the values, oldest first. */
  values(): MapIterator<V> {
    return this.#entries.values()
  }

  /** Iterates over the entries, oldest first. */
  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.#entries.entries()
  }

  #evict(): V[] {
    const evicted: V[] = []
    const count = Math.ceil(this.#maxSize * shareEvicted)
    for (const [key, value] of this.#entries) {
      this.#entries.delete(key)
      if (evicted.push(value) >= count) break
    }
    return evicted
  }
}

const none: readonly never[] = []

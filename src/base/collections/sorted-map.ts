/**
 * A map with keys in UTF-8 byte order, for range reads.
 *
 * The entries are stored in order, in chunks of at most 512, with keys and values in parallel arrays. A lookup uses the
 * hash map `#byKey`. An insertion or deletion shifts entries of at most one chunk, so its cost does not grow with the
 * map. A range read starts with two binary searches. Keys that arrive in order are appended without a search.
 *
 * `slices` reads a range in slices that all show the same state despite concurrent writes, because a chunk that a
 * reader may still need is copied before it is changed.
 */
import { compareUtf8 } from './utf8-order.ts'

const maxChunk = 512
/** Matches characters whose order may differ between UTF-16 and UTF-8. */
const fromSurrogatesOn = /[\ud800-\uffff]/

interface Chunk<V> {
  readonly keys: string[]
  readonly values: V[]
  /**
   * Epoch in which the chunk was created. The chunk must be copied before a change if a reader from a later epoch may
   * still need it.
   */
  readonly epoch: number
}

/** A map with sorted keys. Readers see a consistent snapshot even if the map changes while they read. */
export class SortedMap<V> {
  readonly #byKey = new Map<string, V>()
  /** Chunks in key order. There are no empty chunks. */
  readonly #chunks: Chunk<V>[] = []
  /** Whether native string comparison yields UTF-8 order for all current keys. Native comparison is much faster. */
  #plain = true
  /**
   * The current epoch. Each reader that may continue after a write starts a new epoch. Writes copy chunks from earlier
   * epochs instead of changing them.
   */
  #epoch = 0

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key)
  }

  set(key: string, value: V): void {
    const { size } = this.#byKey
    this.#byKey.set(key, value)
    if (this.#byKey.size > size) {
      this.#insert(key, value)
    } else {
      const { keys, values } = this.#own(this.#chunkOf(key))
      values[this.#position(keys, key)] = value
    }
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return
    const index = this.#chunkOf(key)
    const { keys, values } = this.#own(index)
    const at = this.#position(keys, key)
    keys.splice(at, 1)
    values.splice(at, 1)
    if (keys.length === 0) this.#chunks.splice(index, 1)
  }

  /** Returns at most `limit` values, in key order, whose keys have the prefix and sort after `after`. */
  withPrefix(prefix: string, after?: string, limit = Number.POSITIVE_INFINITY): V[] {
    const matches: V[] = []
    let { index, at } = this.#start(prefix, after)
    for (; index < this.#chunks.length; index++, at = 0) {
      const { keys, values } = this.#chunks[index]!
      // If the last key has the prefix, so do all keys of the chunk. This is the common case.
      const whole = keys.at(-1)!.startsWith(prefix)
      for (; at < keys.length; at++) {
        if (matches.length >= limit || (!whole && !keys[at]!.startsWith(prefix))) return matches
        matches.push(values[at]!)
      }
    }
    return matches
  }

  /**
   * Yields the same values as `withPrefix` in slices of at most one chunk. All slices show the state at the time of the
   * call, even if the map changes while they are read.
   */
  slices(prefix: string, after?: string): Generator<V[]> {
    const { index, at } = this.#start(prefix, after)
    this.#epoch++
    return readSlices(this.#chunks.slice(index), at, prefix)
  }

  /** Returns the position of the first key that has the prefix and sorts after `after`. */
  #start(prefix: string, after: string | undefined): { index: number; at: number } {
    const start = after !== undefined && compareUtf8(after, prefix) >= 0 ? after : prefix
    const index = this.#chunkOf(start)
    const at = index < this.#chunks.length ? this.#position(this.#chunks[index]!.keys, start) : 0
    return { index, at: this.#chunks[index]?.keys[at] === after ? at + 1 : at }
  }

  /**
   * Returns the number of keys between `after` and `end`, excluding both. The cost grows with the number of chunks
   * rather than the number of keys, and is low near both ends of the map.
   */
  countBetween(after: string, end: string): number {
    return this.#rank(end) - this.#rank(after) - (this.#byKey.has(after) ? 1 : 0)
  }

  /** Returns the number of keys that sort before the given key. Counts from the nearer end of the map. */
  #rank(key: string): number {
    const index = this.#chunkOf(key)
    if (index >= this.#chunks.length) return this.size
    const isNearEnd = 2 * index > this.#chunks.length
    const before = isNearEnd ? this.size - this.#keysIn(index, this.#chunks.length) : this.#keysIn(0, index)
    return before + this.#position(this.#chunks[index]!.keys, key)
  }

  /** Returns the number of keys in the chunks from index `from` up to index `to`. */
  #keysIn(from: number, to: number): number {
    let count = 0
    for (let i = from; i < to; i++) count += this.#chunks[i]!.keys.length
    return count
  }

  #insert(key: string, value: V): void {
    if (this.#plain && fromSurrogatesOn.test(key)) this.#plain = false
    const last = this.#chunks.at(-1)
    if (last === undefined || this.#isBefore(last.keys.at(-1)!, key)) {
      this.#append(last, key, value)
      return
    }
    const index = this.#chunkOf(key)
    const { keys, values } = this.#own(index)
    const at = this.#position(keys, key)
    keys.splice(at, 0, key)
    values.splice(at, 0, value)
    if (keys.length > maxChunk) {
      const upper = { keys: keys.splice(maxChunk / 2), values: values.splice(maxChunk / 2), epoch: this.#epoch }
      this.#chunks.splice(index + 1, 0, upper)
    }
  }

  #append(last: Chunk<V> | undefined, key: string, value: V): void {
    if (last === undefined || last.keys.length >= maxChunk) {
      this.#chunks.push({ keys: [key], values: [value], epoch: this.#epoch })
    } else {
      const { keys, values } = this.#own(this.#chunks.length - 1)
      keys.push(key)
      values.push(value)
    }
  }

  /**
   * Returns a chunk that the caller may change. If a reader may still need the chunk, replaces it with a copy first.
   */
  #own(index: number): Chunk<V> {
    const chunk = this.#chunks[index]!
    if (chunk.epoch === this.#epoch) return chunk
    const copy = { keys: chunk.keys.slice(), values: chunk.values.slice(), epoch: this.#epoch }
    this.#chunks[index] = copy
    return copy
  }

  /**
   * Returns the index of the first chunk whose last key does not sort before `key`, or the number of chunks if there is
   * no such chunk.
   */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length
    if (high > 0 && this.#isBefore(this.#chunks[high - 1]!.keys.at(-1)!, key)) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isBefore(this.#chunks[middle]!.keys.at(-1)!, key)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Returns the index of the first key that does not sort before `key`. */
  #position(keys: readonly string[], key: string): number {
    let low = 0
    let high = keys.length
    if (high > 0 && this.#isBefore(keys[high - 1]!, key)) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isBefore(keys[middle]!, key)) low = middle + 1
      else high = middle
    }
    return low
  }

  #isBefore(a: string, b: string): boolean {
    return this.#plain ? a < b : compareUtf8(a, b) < 0
  }
}

/**
 * Yields the values of a range in slices. Releases each chunk after reading it, so that a slow reader keeps only unread
 * chunks in memory.
 */
function* readSlices<V>(chunks: (Chunk<V> | undefined)[], from: number, prefix: string): Generator<V[]> {
  for (let index = 0; index < chunks.length; index++) {
    const { keys, values } = chunks[index]!
    chunks[index] = undefined
    const start = index === 0 ? from : 0
    const whole = keys.at(-1)!.startsWith(prefix)
    const end = whole ? keys.length : start + keys.slice(start).filter((key) => key.startsWith(prefix)).length
    if (end > start) yield values.slice(start, end)
    if (!whole) return
  }
}

/**
 * A map whose keys are kept in UTF-8 byte order, for reading ranges.
 *
 * Entries live in order in chunks of at most 512, keys beside values; a look-up goes through the hash map `#byKey`, an
 * insert or delete moves at most one chunk, so its cost does not grow with the map. Reading from a key onward starts
 * with two binary searches. Keys that come in order are appended without a search.
 *
 * `slices` reads a range in pieces that all show one state, however much is written in between: chunks that a reader
 * may still come to are copied before they are changed.
 */
import { compareUtf8 } from './utf8-order.ts'

const maxChunk = 512
/** Only where one of these meets another can the two orders differ. */
const fromSurrogatesOn = /[\ud800-\uffff]/

interface Chunk<V> {
  readonly keys: string[]
  readonly values: V[]
  /** The epoch in which it was made: no reader who came later than that has seen it change. */
  readonly epoch: number
}

/** A map in the order of its keys that can be read in slices while it changes. */
export class SortedMap<V> {
  readonly #byKey = new Map<string, V>()
  /** In order; never empty ones, so a map without entries has none. */
  readonly #chunks: Chunk<V>[] = []
  /** Whether the order of the language itself is that of UTF-8 for the keys there are; it is far quicker. */
  #plain = true
  /** Rises with every reader who may come back for more. Chunks of an earlier epoch are not changed but replaced. */
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

  /** The values of the keys that start with `prefix`, in order: those past `after`, at most `limit`. */
  withPrefix(prefix: string, after?: string, limit = Number.POSITIVE_INFINITY): V[] {
    const found: V[] = []
    let { index, at } = this.#start(prefix, after)
    for (; index < this.#chunks.length; index++, at = 0) {
      const { keys, values } = this.#chunks[index]!
      // Most chunks lie within the range as a whole.
      const whole = keys.at(-1)!.startsWith(prefix)
      for (; at < keys.length; at++) {
        if (found.length >= limit || (!whole && !keys[at]!.startsWith(prefix))) return found
        found.push(values[at]!)
      }
    }
    return found
  }

  /** The same values in pieces of at most a chunk, all of them as they are now, whatever is changed meanwhile. */
  slices(prefix: string, after?: string): Generator<V[]> {
    const { index, at } = this.#start(prefix, after)
    this.#epoch++
    return readSlices(this.#chunks.slice(index), at, prefix)
  }

  /** Where the keys that start with `prefix` and lie past `after` begin. */
  #start(prefix: string, after: string | undefined): { index: number; at: number } {
    const start = after !== undefined && compareUtf8(after, prefix) >= 0 ? after : prefix
    const index = this.#chunkOf(start)
    const at = index < this.#chunks.length ? this.#position(this.#chunks[index]!.keys, start) : 0
    return { index, at: this.#chunks[index]?.keys[at] === after ? at + 1 : at }
  }

  /** How many keys lie after `after` and before `end`, both exclusive; costs a step per chunk, not per key. */
  countBetween(after: string, end: string): number {
    return this.#rank(end) - this.#rank(after) - (this.#byKey.has(after) ? 1 : 0)
  }

  /** How many keys lie before this one. */
  #rank(key: string): number {
    const index = this.#chunkOf(key)
    let count = 0
    for (let i = 0; i < index; i++) count += this.#chunks[i]!.keys.length
    return index < this.#chunks.length ? count + this.#position(this.#chunks[index]!.keys, key) : count
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

  /** The chunk, or a copy in its place, that may be changed. */
  #own(index: number): Chunk<V> {
    const chunk = this.#chunks[index]!
    if (chunk.epoch === this.#epoch) return chunk
    const copy = { keys: chunk.keys.slice(), values: chunk.values.slice(), epoch: this.#epoch }
    this.#chunks[index] = copy
    return copy
  }

  /** The first chunk whose last key is not before `key`; the number of chunks when there is none. */
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

  /** The first index whose key is not before `key`. */
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

/** A chunk that has been read is released, so that a slow reader holds only what it has yet to read. */
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

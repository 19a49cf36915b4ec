/**
 * A map whose keys are kept in UTF-8 byte order, for reading ranges.
 *
 * Entries live in chunks of at most 512 in order; a look-up in `#byKey` is a plain hash look-up, an insert or delete
 * moves at most one chunk, so its cost does not grow with the map. Reading from a key onward starts with two binary
 * searches.
 */
import { compareUtf8 } from './utf8-order.ts'

const maxChunk = 512

export class SortedMap<V> {
  readonly #byKey = new Map<string, V>()
  /** Chunks of keys in order; never empty ones, except that a map without entries has no chunk. */
  readonly #chunks: string[][] = []

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key)
  }

  set(key: string, value: V): void {
    if (!this.#byKey.has(key)) this.#insert(key)
    this.#byKey.set(key, value)
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return
    const index = this.#chunkOf(key)
    const chunk = this.#chunks[index]!
    chunk.splice(position(chunk, key), 1)
    if (chunk.length === 0) this.#chunks.splice(index, 1)
  }

  /** The values of the keys that start with `prefix`, in order; with `after`, only those past it. */
  *withPrefix(prefix: string, after?: string): Generator<V> {
    const start = after !== undefined && compareUtf8(after, prefix) >= 0 ? after : prefix
    let index = this.#chunkOf(start)
    let at = index < this.#chunks.length ? position(this.#chunks[index]!, start) : 0
    for (; index < this.#chunks.length; index++, at = 0) {
      const chunk = this.#chunks[index]!
      for (; at < chunk.length; at++) {
        const key = chunk[at]!
        if (!key.startsWith(prefix)) {
          if (compareUtf8(key, prefix) > 0) return
          continue
        }
        if (key !== after) yield this.#byKey.get(key)!
      }
    }
  }

  /** How many keys lie after `after` and before `end`, both exclusive; costs a step per chunk, not per key. */
  countBetween(after: string, end: string): number {
    return this.#rank(end) - this.#rank(after) - (this.#byKey.has(after) ? 1 : 0)
  }

  /** How many keys lie before this one. */
  #rank(key: string): number {
    const index = this.#chunkOf(key)
    let count = 0
    for (let i = 0; i < index; i++) count += this.#chunks[i]!.length
    return index < this.#chunks.length ? count + position(this.#chunks[index]!, key) : count
  }

  #insert(key: string): void {
    const index = Math.min(this.#chunkOf(key), Math.max(this.#chunks.length - 1, 0))
    const chunk = this.#chunks[index]
    if (chunk === undefined) {
      this.#chunks.push([key])
      return
    }
    chunk.splice(position(chunk, key), 0, key)
    if (chunk.length > maxChunk) this.#chunks.splice(index + 1, 0, chunk.splice(maxChunk / 2))
  }

  /** The first chunk whose last key is not before `key`; the number of chunks when there is none. */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareUtf8(this.#chunks[middle]!.at(-1)!, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The first index whose key is not before `key`. */
function position(chunk: readonly string[], key: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareUtf8(chunk[middle]!, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

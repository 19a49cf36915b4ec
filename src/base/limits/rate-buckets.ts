/**
 * Token buckets in shared memory, so that a rate limit applies to all workers of a process combined. Each key has a
 * bucket. If the table is full, the bucket with the most tokens is dropped, which has the same effect as filling that
 * bucket.
 *
 * A bucket is a single number: the time at which it will be full again (the generic cell rate algorithm). A worker can
 * therefore take a token with one atomic exchange, needs no lock, and may exit at any moment. If two workers reuse a
 * slot at the same moment, one additional event may be allowed.
 *
 * `TokenBucket` cannot be used here because its two fields, the tokens and the time of the last refill, cannot be
 * changed in one atomic exchange.
 */
import { createHash, randomBytes } from 'node:crypto'

const seedBytes = 16
/** Size of a slot in bytes: a 64-bit key and a 64-bit time. */
const bucketBytes = 16
/** Size of the reserved memory in bytes. The operating system allocates the memory only when buckets use it. */
const maxBytes = 64 * 1024 * 1024
/** Number of candidate slots for each key. A lookup checks all of them. */
const ways = 8

/**
 * Allocates memory for token buckets. The memory starts with a secret seed, so that clients cannot choose colliding
 * keys.
 */
export function newBucketMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(seedBytes, { maxByteLength: maxBytes })
  new Uint8Array(memory).set(randomBytes(seedBytes))
  return memory
}

export interface Rate {
  readonly perSecond: number
  readonly burst: number
  /** Maximum number of keys with a bucket at the same time. */
  readonly keys: number
}

/**
 * Opens a table of buckets for each rate. All workers must pass the same rates in the same order. `now` must return
 * nanoseconds of a clock that all workers share. Throws RangeError if the memory is too small.
 */
export function openRateBuckets(memory: SharedArrayBuffer, rates: readonly Rate[], now: () => bigint): RateBuckets[] {
  const starts: number[] = []
  let end = seedBytes
  for (const { keys } of rates) {
    starts.push(end)
    end += setsFor(keys) * waysFor(keys) * bucketBytes
  }
  if (end > maxBytes)
    throw new RangeError(`the rate-limit buckets for this number of keys would need more than ${maxBytes} bytes`)
  if (memory.byteLength < end) growTo(memory, end)
  return rates.map((rate, i) => new RateBuckets(memory, { ...rate, start: starts[i]! }, now))
}

/**
 * Returns the number of slot sets. The table has twice as many slots as keys, so that few sets overflow even though
 * hashing distributes the keys unevenly.
 */
function setsFor(keys: number): number {
  return keys <= ways ? 1 : Math.ceil((2 * keys) / ways)
}

function waysFor(keys: number): number {
  return Math.min(keys, ways)
}

function growTo(memory: SharedArrayBuffer, bytes: number): void {
  try {
    memory.grow(bytes)
  } catch (error) {
    // Another worker may have already grown the memory.
    if (memory.byteLength < bytes) throw error
  }
}

/** Token buckets for one rate, one per key. */
export class RateBuckets {
  readonly #seed: Uint8Array
  readonly #start: number
  readonly #sets: number
  readonly #ways: number
  /** The slots of the table. Each slot is a key followed by a time, and the key 0 marks a free slot. */
  readonly #words: BigInt64Array
  /** Nanoseconds between two events at the allowed rate. */
  readonly #interval: bigint
  readonly #burst: bigint
  readonly #now: () => bigint

  /** `start` is the offset of this table in the shared memory. */
  constructor(memory: SharedArrayBuffer, rate: Rate & { readonly start: number }, now: () => bigint) {
    const { perSecond, burst, keys, start } = rate
    this.#seed = new Uint8Array(memory, 0, seedBytes).slice()
    this.#start = start
    this.#sets = setsFor(keys)
    this.#ways = waysFor(keys)
    this.#words = new BigInt64Array(memory, start, 2 * this.#sets * this.#ways)
    this.#interval = BigInt(Math.max(1, Math.round(1e9 / perSecond)))
    this.#burst = BigInt(burst) * this.#interval
    this.#now = now
  }

  /** Takes one token from the bucket of a key. Returns false if the bucket is empty. */
  take(key: string): boolean {
    const [mark, first] = this.#slotRange(key)
    for (;;) {
      const outcome = this.#takeAt(mark, this.#find(mark, first))
      if (outcome !== undefined) return outcome
    }
  }

  #slotRange(key: string): [mark: bigint, first: number] {
    const hash = createHash('sha256').update(this.#seed).update(`${this.#start} `).update(key).digest()
    return [hash.readBigInt64LE(0) || 1n, 2 * this.#ways * (hash.readUInt32LE(8) % this.#sets)]
  }

  /** Returns the slot that contains the key. If no slot contains the key, returns a slot that the key can reuse. */
  #find(mark: bigint, first: number): number {
    let earliest = first
    for (let at = first; at < first + 2 * this.#ways; at += 2) {
      if (Atomics.load(this.#words, at) === mark) return at
      if (Atomics.load(this.#words, at + 1) < Atomics.load(this.#words, earliest + 1)) earliest = at
    }
    return earliest
  }

  /** Takes a token from the bucket in a slot. Returns undefined if another worker changed the slot at the same time. */
  #takeAt(mark: bigint, at: number): boolean | undefined {
    const words = this.#words
    const owner = Atomics.load(words, at)
    const full = Atomics.load(words, at + 1)
    if (owner !== mark && Atomics.compareExchange(words, at, owner, mark) !== owner) return undefined
    const now = this.#now()
    const from = owner === mark && full > now ? full : now
    const next = from + this.#interval
    if (next - now > this.#burst) return false
    return Atomics.compareExchange(words, at + 1, full, next) === full ? true : undefined
  }
}

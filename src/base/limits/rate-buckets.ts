/**
 * Token buckets in memory that the workers of a process share, so that a rate holds for all of them together. Each key has
 * a bucket; when there is no room for another, the bucket that is closest to full is forgotten, which fills it.
 *
 * A bucket is one number: the time at which it will be full again (the generic cell rate algorithm). So a worker takes from
 * it with one atomic exchange, holds no lock, and can end at any moment. Where two workers reuse the same room at the
 * same moment, one event more may pass.
 *
 * `TokenBucket` cannot be used here: its two fields, the tokens and the time of the last refill, cannot be changed together
 * in one atomic exchange.
 */
import { createHash, randomBytes } from 'node:crypto'

const seedBytes = 16
/** A key and a time, of 64 bits each. */
const bucketBytes = 16
/** Memory that is reserved and not used until buckets need it. */
const maxBytes = 64 * 1024 * 1024
/** How many buckets a key may be in: those are compared with it. */
const ways = 8

/** Makes memory for buckets. It begins with a secret, so that nobody can choose keys that share room. */
export function newBucketMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(seedBytes, { maxByteLength: maxBytes })
  new Uint8Array(memory).set(randomBytes(seedBytes))
  return memory
}

export interface Rate {
  readonly perSecond: number
  readonly burst: number
  /** How many keys have a bucket at most. */
  readonly keys: number
}

/**
 * Makes a table of buckets for each rate. All workers must name the same rates in the same order. `now` is a time in
 * nanoseconds that is the same for all of them. Throws RangeError where there is not enough memory.
 */
export function openRateBuckets(memory: SharedArrayBuffer, rates: readonly Rate[], now: () => bigint): RateBuckets[] {
  const starts: number[] = []
  let end = seedBytes
  for (const { keys } of rates) {
    starts.push(end)
    end += setsFor(keys) * waysFor(keys) * bucketBytes
  }
  if (end > maxBytes) throw new RangeError(`buckets for so many keys need more than ${maxBytes} bytes`)
  if (memory.byteLength < end) growTo(memory, end)
  return rates.map((rate, i) => new RateBuckets(memory, { ...rate, start: starts[i]! }, now))
}

/** Twice as many as needed: few sets overflow then, although keys are spread by chance. */
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
    // Another worker was first.
    if (memory.byteLength < bytes) throw error
  }
}

/** The buckets of one rate. */
export class RateBuckets {
  readonly #seed: Uint8Array
  readonly #start: number
  readonly #sets: number
  readonly #ways: number
  /** Keys, each followed by its time; a key of 0 is none. */
  readonly #words: BigInt64Array
  /** Nanoseconds for one event, and for all of the burst. */
  readonly #interval: bigint
  readonly #burst: bigint
  readonly #now: () => bigint

  /** `start`: where the buckets begin in the memory. */
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

  /** Takes one event from the bucket of the key; false where the bucket is empty. */
  take(key: string): boolean {
    const [mark, first] = this.#placeOf(key)
    for (;;) {
      const taken = this.#takeAt(mark, this.#find(mark, first))
      if (taken !== undefined) return taken
    }
  }

  #placeOf(key: string): [mark: bigint, first: number] {
    const hash = createHash('sha256').update(this.#seed).update(`${this.#start} `).update(key).digest()
    return [hash.readBigInt64LE(0) || 1n, 2 * this.#ways * (hash.readUInt32LE(8) % this.#sets)]
  }

  /** Where the key is, or the place that it may have. */
  #find(mark: bigint, first: number): number {
    let earliest = first
    for (let at = first; at < first + 2 * this.#ways; at += 2) {
      if (Atomics.load(this.#words, at) === mark) return at
      if (Atomics.load(this.#words, at + 1) < Atomics.load(this.#words, earliest + 1)) earliest = at
    }
    return earliest
  }

  /** Undefined where another worker was faster. */
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

/**
 * How many connections are open, in all and for each user. All workers of a server count in shared memory, so that the
 * maxima hold for the server as a whole. Each worker writes a region of its own, and clears it when it starts: a worker
 * that crashed leaves no connections behind. A user is one of 16,384 counters, by a hash with a random seed: two users
 * may share a counter, but nobody can choose to.
 *
 * The last few connections are for `system:masters`, who can always reach a server that others have filled.
 */
import { hash, randomBytes } from 'node:crypto'
import { superusers, type User } from '../../api/model/user.ts'

/** The greatest numbers of connections, of the whole server. */
export interface ConnectionMaxima {
  readonly total: number
  readonly perUser: number
}

/** The memory in which this worker counts, which it shares with the others. */
export interface CountingPlace {
  readonly memory: SharedArrayBuffer
  /** From 0 on. */
  readonly index: number
}

/** The outcome for a connection: the counter of its user, or why there may be no more connections. */
export type Admission = { readonly counter: number } | { readonly refusal: string }

const seedBytes = 32
const totalCounter = 0
const userCounters = 16 * 1024
const regionLength = 1 + userCounters
const reservedPart = 0.05
const maxReserved = 64

/** Memory in which this many workers count. */
export function countingMemory(workers: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(seedBytes + 4 * workers * regionLength)
  new Uint8Array(memory, 0, seedBytes).set(randomBytes(seedBytes))
  return memory
}

/** Counts the connections of one worker, and bounds those of all. */
export class ConnectionCounts {
  readonly maxima: ConnectionMaxima
  readonly workers: number
  readonly #seed: string
  readonly #counts: Int32Array
  readonly #own: number
  /** The number of connections that are open to all users. */
  readonly #open: number

  constructor(maxima: ConnectionMaxima, { memory, index }: CountingPlace = { memory: countingMemory(1), index: 0 }) {
    this.maxima = maxima
    this.#seed = Buffer.from(memory, 0, seedBytes).toString('hex')
    this.#counts = new Int32Array(memory, seedBytes)
    this.workers = this.#counts.length / regionLength
    this.#own = index * regionLength
    this.#open = maxima.total - Math.min(maxReserved, Math.ceil(reservedPart * maxima.total))
    for (let i = 0; i < regionLength; i++) Atomics.store(this.#counts, this.#own + i, 0)
  }

  /** Counts a connection that has just been made. False where there are as many as there may be: it does not count. */
  open(): boolean {
    this.#add(totalCounter, 1)
    if (this.#sum(totalCounter) <= this.maxima.total) return true
    this.close()
    return false
  }

  /** Counts a connection that takes the place of one which is about to close. */
  openInPlace(): void {
    this.#add(totalCounter, 1)
  }

  /** A connection that was counted by `open` is closed. */
  close(): void {
    this.#add(totalCounter, -1)
  }

  /** Counts a connection for the user who is the first to be authenticated on it. */
  admit(user: User): Admission {
    const counter = this.#counterOf(user)
    this.#add(counter, 1)
    const refusal = user.groups.includes(superusers) ? undefined : this.#refusalOf(user, counter)
    if (refusal === undefined) return { counter }
    this.release(counter)
    return { refusal }
  }

  /** A connection that was counted by `admit` is closed. */
  release(counter: number): void {
    this.#add(counter, -1)
  }

  #refusalOf({ name }: User, counter: number): string | undefined {
    const { perUser } = this.maxima
    if (this.#sum(counter) > perUser) {
      return `the user ${JSON.stringify(name.slice(0, 100))} has ${perUser} connections open already (--max-connections-per-user)`
    }
    if (this.#sum(totalCounter) > this.#open) {
      return `${this.#open} connections are open already, and the rest are for system:masters (--max-connections)`
    }
    return undefined
  }

  #counterOf({ name }: User): number {
    const digest = hash('sha256', `${this.#seed} ${name}`, 'buffer')
    return 1 + (digest.readUInt32BE(0) % userCounters)
  }

  #add(counter: number, change: 1 | -1): void {
    Atomics.add(this.#counts, this.#own + counter, change)
  }

  #sum(counter: number): number {
    let sum = 0
    for (let i = counter; i < this.#counts.length; i += regionLength) sum += Atomics.load(this.#counts, i)
    return sum
  }
}

/**
 * Counts open connections, in total and per user. All workers count in shared memory, so the limits apply to the whole
 * server. Each worker has its own region of that memory and clears it at startup, so a crashed worker leaves no stale
 * counts. A hash with a random seed assigns each user to one of 16,384 counters. Two users may share a counter, but no
 * user can choose to share another user's counter. If there are several workers, they also count unauthenticated
 * connections, in total and per network, with the same hash.
 *
 * The last few connections are reserved for `system:masters`, so that administrators can always reach a busy server.
 */
import { hash, randomBytes } from 'node:crypto'
import { superusers, type User } from '../../api/model/user.ts'

/** The maximum numbers of connections for the whole server. */
export interface ConnectionMaxima {
  readonly total: number
  readonly perUser: number
}

/** A worker's part of the shared memory in which all workers count their connections. */
export interface CountingPlace {
  readonly memory: SharedArrayBuffer
  /** The index of the worker, starting at 0. */
  readonly index: number
  /** Returns the current number of workers. Defaults to the number of workers for which the memory was allocated. */
  readonly workers?: () => number
}

/** The result of admitting a user's connection: the counter to release later, or the reason for the rejection. */
export type Admission = { readonly counter: number } | { readonly refusal: string }

const seedBytes = 32
const totalCounter = 0
const strangersCounter = 1
const hashedCounters = 16 * 1024
const firstUserCounter = 2
const firstNetworkCounter = firstUserCounter + hashedCounters
const regionLength = firstNetworkCounter + hashedCounters
const reservedPart = 0.05
const maxReserved = 64

/** Allocates the shared counters for the given number of workers. */
export function countingMemory(workers: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(seedBytes + 4 * workers * regionLength)
  new Uint8Array(memory, 0, seedBytes).set(randomBytes(seedBytes))
  return memory
}

/** Clears the counters of a worker that has exited without a replacement. */
export function clearCounts(memory: SharedArrayBuffer, index: number): void {
  new Int32Array(memory, seedBytes + 4 * index * regionLength, regionLength).fill(0)
}

/** Counts the connections of one worker, and enforces the limits across all workers. */
export class ConnectionCounts {
  readonly maxima: ConnectionMaxima
  /** Returns the current number of workers. */
  readonly workers: () => number
  readonly #regions: number
  readonly #seed: string
  readonly #counts: Int32Array
  readonly #own: number
  /** Number of connections available to users outside `system:masters`. */
  readonly #open: number

  constructor(maxima: ConnectionMaxima, place: CountingPlace = { memory: countingMemory(1), index: 0 }) {
    const { memory, index } = place
    this.maxima = maxima
    this.#seed = Buffer.from(memory, 0, seedBytes).toString('hex')
    this.#counts = new Int32Array(memory, seedBytes)
    this.#regions = this.#counts.length / regionLength
    this.workers = place.workers ?? (() => this.#regions)
    this.#own = index * regionLength
    this.#open = maxima.total - Math.min(maxReserved, Math.ceil(reservedPart * maxima.total))
    clearCounts(memory, index)
  }

  /** Counts a new connection. If the limit is reached, returns false and does not count the connection. */
  open(): boolean {
    this.#add(totalCounter, 1)
    if (this.#sum(totalCounter) <= this.maxima.total) return true
    this.close()
    return false
  }

  /**
   * Counts a new connection even if the limit is reached. Called when the new connection replaces a connection that is
   * about to close.
   */
  openInPlace(): void {
    this.#add(totalCounter, 1)
  }

  /** Removes a closed connection from the count. */
  close(): void {
    this.#add(totalCounter, -1)
  }

  /** Counts a connection for the first user who is authenticated on it. Rejects the user if a limit is reached. */
  admit(user: User): Admission {
    const counter = this.#counterOf(user)
    this.#add(counter, 1)
    const refusal = user.groups.includes(superusers) ? undefined : this.#refusalOf(user, counter)
    if (refusal === undefined) return { counter }
    this.release(counter)
    return { refusal }
  }

  /** Removes a closed connection from the count of its user. */
  release(counter: number): void {
    this.#add(counter, -1)
  }

  /** Returns the counter for unauthenticated connections from a network. */
  networkCounter(network: string): number {
    return this.#hashed(firstNetworkCounter, network)
  }

  /**
   * Adds a new unauthenticated connection to the count (1), or removes a connection that was closed or authenticated
   * (-1).
   */
  addStranger(networkCounter: number, change: 1 | -1): void {
    this.#add(strangersCounter, change)
    this.#add(networkCounter, change)
  }

  /** Returns the number of unauthenticated connections from a network, in all workers. */
  strangersOf(networkCounter: number): number {
    return this.#sum(networkCounter)
  }

  /**
   * Returns the other workers that have unauthenticated connections, sorted by the number of these connections in
   * descending order.
   */
  otherWorkersWithStrangers(): readonly number[] {
    return Array.from({ length: this.#regions }, (_, index) => index)
      .filter((index) => index * regionLength !== this.#own && this.#strangersIn(index) > 0)
      .sort((one, other) => this.#strangersIn(other) - this.#strangersIn(one))
  }

  #strangersIn(index: number): number {
    return Atomics.load(this.#counts, index * regionLength + strangersCounter)
  }

  #refusalOf({ name }: User, counter: number): string | undefined {
    const { perUser } = this.maxima
    if (this.#sum(counter) > perUser) {
      return `the user ${JSON.stringify(name.slice(0, 100))} has ${perUser} open connections, the limit set by --max-connections-per-user`
    }
    if (this.#sum(totalCounter) > this.#open) {
      return `${this.#open} connections are open, and the rest are reserved for system:masters (--max-connections)`
    }
    return undefined
  }

  #counterOf({ name }: User): number {
    return this.#hashed(firstUserCounter, name)
  }

  #hashed(first: number, name: string): number {
    const digest = hash('sha256', `${this.#seed} ${name}`, 'buffer')
    return first + (digest.readUInt32BE(0) % hashedCounters)
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

/**
 * The seats of one priority level, and the queues of requests that wait for them. A request occupies one seat or more
 * while it is carried out. A request that finds enough free seats and nobody waiting takes them at once, which costs a
 * comparison. Others wait in one of their flow's queues (`shuffle-shard.ts`).
 *
 * Queues are served by start-time fair queueing: each has a virtual time at which its first request is due; what a
 * request costs (seats multiplied by time) moves its queue back, at first by a guess, and when the request ends by what
 * it really took. The queue that is due first is next. A queue that was empty begins at the time of the last request
 * that was served, so that nobody saves up turns.
 */
import { dealHand } from './shuffle-shard.ts'

/** How requests wait. */
export interface Queuing {
  readonly queues: number
  readonly handSize: number
  /** How many requests a queue holds. */
  readonly queueLengthLimit: number
}

export interface PoolLimits {
  readonly seats: number
  /** Undefined: nothing waits. */
  readonly queuing: Queuing | undefined
}

/** Why a request is refused, as metrics have it. */
export type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

/** A request that waits. */
export interface Waiter {
  readonly seats: number
  readonly queue: FairQueue
  /** Called when it is its turn: the seats are taken. */
  begin(): void
}

/** What a request takes, before anybody knows. */
const guessedMs = 3

class FairQueue {
  readonly waiters = new Set<Waiter>()
  /** When the first of them is due, in virtual milliseconds. */
  due = 0
  waitingSeats = 0
  executingSeats = 0
}

export type { FairQueue }

/** The seats of a level. */
export class SeatPool {
  #limits: PoolLimits
  #inUse = 0
  #waiting = 0
  /** When the request that was served last was due. */
  #virtualTime = 0
  /** Those with requests that wait or are carried out, or that have had more than their share. */
  readonly #queues = new Map<number, FairQueue>()

  constructor(limits: PoolLimits) {
    this.#limits = limits
  }

  get seats(): number {
    return this.#limits.seats
  }

  get inUse(): number {
    return this.#inUse
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Requests that wait go on waiting in the queues that they are in. */
  configure(limits: PoolLimits): void {
    this.#limits = limits
    this.#dispatch()
  }

  /** Takes seats at once. False: there are not enough, or others wait for them. */
  take(seats: number): boolean {
    if (this.#waiting > 0 || !this.#fits(seats)) return false
    this.#inUse += seats
    return true
  }

  /** The queue that a request of this flow would wait in: the emptiest of those that the flow may use. */
  queueFor(flow: bigint): FairQueue | Refusal {
    const { queuing } = this.#limits
    if (queuing === undefined) return 'concurrency-limit'
    const queue = this.#emptiest(dealHand(flow, queuing.queues, queuing.handSize))
    return queue.waiters.size < queuing.queueLengthLimit ? queue : 'queue-full'
  }

  /** Lets a request wait in its queue. It may be its turn at once. */
  join(waiter: Waiter): void {
    const { queue, seats } = waiter
    if (queue.waiters.size === 0) queue.due = Math.max(queue.due, this.#virtualTime)
    queue.waiters.add(waiter)
    queue.waitingSeats += seats
    this.#waiting++
    this.#dispatch()
  }

  /** A request waits no longer. False: it has its seats already. */
  leave(waiter: Waiter): boolean {
    const { queue, seats } = waiter
    if (!queue.waiters.delete(waiter)) return false
    queue.waitingSeats -= seats
    this.#waiting--
    // It may have been the one that needs more seats than are free.
    this.#dispatch()
    this.#forgetIfIdle()
    return true
  }

  /** Gives seats back. `queue` is where the request waited, if it did, and `ranMs` how long it had the seats. */
  release(seats: number, queue?: FairQueue, ranMs = 0): void {
    this.#inUse -= seats
    if (queue !== undefined) {
      queue.executingSeats -= seats
      queue.due += seats * (ranMs - guessedMs)
    }
    if (this.#waiting > 0) this.#dispatch()
    else this.#forgetIfIdle()
  }

  /** One that needs more seats than there are has them all. */
  #fits(seats: number): boolean {
    return this.#inUse + seats <= this.#limits.seats || this.#inUse === 0
  }

  #emptiest(hand: readonly number[]): FairQueue {
    let best: FairQueue | undefined
    for (const index of hand) {
      const queue = this.#queueAt(index)
      if (best === undefined || loadOf(queue) < loadOf(best)) best = queue
    }
    return best!
  }

  #queueAt(index: number): FairQueue {
    const known = this.#queues.get(index)
    if (known !== undefined) return known
    const queue = new FairQueue()
    this.#queues.set(index, queue)
    return queue
  }

  #dispatch(): void {
    while (this.#waiting > 0) {
      const queue = this.#next()
      const [waiter] = queue.waiters as Iterable<Waiter> as [Waiter]
      if (!this.#fits(waiter.seats)) return
      this.#serve(queue, waiter)
    }
  }

  #serve(queue: FairQueue, waiter: Waiter): void {
    const { seats } = waiter
    queue.waiters.delete(waiter)
    queue.waitingSeats -= seats
    queue.executingSeats += seats
    this.#waiting--
    this.#inUse += seats
    this.#virtualTime = Math.max(this.#virtualTime, queue.due)
    queue.due += seats * guessedMs
    waiter.begin()
  }

  /** The queue that is due first; of several the one that was used first. */
  #next(): FairQueue {
    let best: FairQueue | undefined
    for (const queue of this.#queues.values())
      if (queue.waiters.size > 0 && (best === undefined || queue.due < best.due)) best = queue
    return best!
  }

  /** Nobody competes: who had more than their share before begins anew. */
  #forgetIfIdle(): void {
    if (this.#waiting > 0 || this.#inUse > 0 || this.#queues.size === 0) return
    this.#queues.clear()
    this.#virtualTime = 0
  }
}

/** Waiting requests count first, then those that are carried out. */
function loadOf({ waitingSeats, executingSeats }: FairQueue): number {
  return waitingSeats * 1e6 + executingSeats
}

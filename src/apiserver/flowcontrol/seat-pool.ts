/**
 * The seats of one priority level, and the queues of requests that wait for them. A request occupies one seat or more
 * while it is carried out. A request that finds enough free seats and nobody waiting takes them at once, which costs a
 * comparison. Others wait in one of their flow's queues (`shuffle-shard.ts`).
 *
 * Queues are served by start-time fair queueing: each has a virtual time at which its first request is due; what a
 * request costs (seats multiplied by time) moves its queue back, at first by a guess, and when the request ends by what
 * it really took. The queue that is due first is next. A queue that was empty begins at the time of the last request
 * that was served, so that nobody saves up turns.
 *
 * What one turn of the event loop begins is bounded too (`turns.ts`): a request beyond that waits like one without seats.
 */
import { Dealer } from './shuffle-shard.ts'
import type { Turns, Waiting } from './turns.ts'

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

/** What a request takes: seats while it is carried out, and a part of the work of a turn when it begins. */
export interface Demand {
  readonly seats: number
  readonly work: number
}

/** A request that waits. */
export interface Waiter extends Demand {
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
export class SeatPool implements Waiting {
  readonly #turns: Turns
  #limits: PoolLimits
  /** Of the queues as they are configured; made when somebody first waits. */
  #dealer: Dealer | undefined
  #inUse = 0
  #waiting = 0
  /** When the request that was served last was due. */
  #virtualTime = 0
  /** Those with requests that wait or are carried out, or that have had more than their share. */
  readonly #queues = new Map<number, FairQueue>()

  constructor(limits: PoolLimits, turns: Turns) {
    this.#limits = limits
    this.#turns = turns
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
    this.#dealer = undefined
    this.#dispatch()
  }

  /** Takes seats at once. False: there are not enough, others wait for them, or this turn has begun enough. */
  take({ seats, work }: Demand): boolean {
    if (this.#waiting > 0 || !this.#fits(seats)) return false
    // Where nothing waits, seats alone decide.
    if (!this.#turns.take(work) && this.#limits.queuing !== undefined) return false
    this.#inUse += seats
    return true
  }

  /** The queue that a request of this flow would wait in: the emptiest of those that the flow may use. */
  queueFor(flow: bigint): FairQueue | Refusal {
    const { queuing } = this.#limits
    if (queuing === undefined) return 'concurrency-limit'
    this.#dealer ??= new Dealer(queuing.queues, queuing.handSize)
    const queue = this.#emptiest(this.#dealer.deal(flow))
    return queue.waiters.size < queuing.queueLengthLimit || this.#waitsForTurn(queuing) ? queue : 'queue-full'
  }

  /** Whether those who wait would have seats in a longer turn: then they do not fill the queues. */
  #waitsForTurn({ queueLengthLimit }: Queuing): boolean {
    return this.#waiting < this.#limits.seats - this.#inUse + queueLengthLimit
  }

  /**
   * Lets a request wait in its queue. It may be its turn at once. One that has its queue to itself, and is next, does not
   * wait for a turn of the event loop that others have used up.
   */
  join(waiter: Waiter): void {
    const { queue, seats } = waiter
    const isAlone = queue.waiters.size === 0 && queue.executingSeats === 0
    if (queue.waiters.size === 0) queue.due = Math.max(queue.due, this.#virtualTime)
    queue.waiters.add(waiter)
    queue.waitingSeats += seats
    this.#waiting++
    if (isAlone && this.#fits(seats) && this.#next() === queue) this.#serve(queue, waiter)
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

  /** The first of them that nobody uses, or else the one with the least load. */
  #emptiest(hand: readonly number[]): FairQueue {
    let best: FairQueue | undefined
    for (const index of hand) {
      const queue = this.#queues.get(index)
      if (queue === undefined) return best !== undefined && loadOf(best) === 0 ? best : this.#queueAt(index)
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
    while (this.beginNext());
  }

  beginNext(): boolean {
    if (this.#waiting === 0) return false
    const queue = this.#next()
    const [waiter] = queue.waiters as Iterable<Waiter> as [Waiter]
    if (!this.#fits(waiter.seats)) return false
    if (!this.#turns.take(waiter.work)) {
      this.#turns.wait(this)
      return false
    }
    this.#serve(queue, waiter)
    return true
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

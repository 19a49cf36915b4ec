/**
 * The seats of one priority level and the queues of requests that wait for them. A request occupies one or more seats
 * while it runs. If enough seats are free and no request waits, a request gets its seats at the cost of one comparison.
 * Otherwise, the request waits in one of its flow's queues (`shuffle-shard.ts`).
 *
 * The pool uses start-time fair queueing. Each queue has a virtual time at which its first request is due. The cost of
 * a request (seats multiplied by time) advances this virtual time: by an estimate when the request starts, and by the
 * actual cost when it ends. The queue with the earliest virtual time is served next. A queue that was empty starts at
 * the time of the last served request, so that an idle flow gains no credit.
 *
 * Each event-loop tick starts a bounded amount of work (`tick-budget.ts`). Requests that exceed the bound wait as if no
 * seats were free.
 */
import type { SeatDemand } from './seat-demand.ts'
import { Dealer } from './shuffle-shard.ts'
import type { TickBudget, Waiting } from './tick-budget.ts'

/** Queuing settings of a priority level. */
export interface Queuing {
  readonly queues: number
  readonly handSize: number
  /** Maximum number of waiting requests per queue. */
  readonly queueLengthLimit: number
}

export interface PoolLimits {
  readonly seats: number
  /** Maximum number of seats of one request. Defaults to all seats of the pool. */
  readonly maxRequestSeats?: number
  /** The queuing settings. Undefined if requests do not wait. */
  readonly queuing: Queuing | undefined
}

/** The reason for a rejection, which is a label value in metrics. */
export type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

/** The seats that a request occupies while it runs, and the part of the tick budget that its start uses. */
export interface Demand {
  readonly seats: number
  readonly work: number
  /** How long the seats stay occupied after the request ends, in milliseconds. */
  readonly extraMs?: number
}

/** A request that waits for its seats. */
export interface Waiter extends Demand {
  readonly queue: FairQueue
  /** A callback that runs when the request has obtained its seats. */
  begin(): void
}

/** Estimated duration of a request in milliseconds, used until the request ends. */
const guessedMs = 3

class FairQueue {
  readonly waiters = new Set<Waiter>()
  /** Virtual time, in milliseconds, when the first waiting request is due. */
  due = 0
  waitingSeats = 0
  executingSeats = 0
}

export type { FairQueue }

/** The seats of a priority level. */
export class SeatPool implements Waiting {
  readonly #tickBudget: TickBudget
  #limits: PoolLimits
  /**
   * Assigns flows to queues according to the current configuration. Created when a request waits for the first time.
   */
  #dealer: Dealer | undefined
  #inUse = 0
  #waiting = 0
  /** The virtual time of the request that was served last. */
  #virtualTime = 0
  /** Queues that have waiting or running requests, or that have used more than their share. */
  readonly #queues = new Map<number, FairQueue>()

  /** Records the seats that requests occupy or wait for. */
  readonly #demand: SeatDemand | undefined

  constructor(limits: PoolLimits, tickBudget: TickBudget, demand?: SeatDemand) {
    this.#limits = limits
    this.#tickBudget = tickBudget
    this.#demand = demand
  }

  get seats(): number {
    return this.#limits.seats
  }

  /** Maximum number of seats of one request. */
  get maxRequestSeats(): number {
    return Math.max(this.#limits.maxRequestSeats ?? this.#limits.seats, 1)
  }

  get inUse(): number {
    return this.#inUse
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Applies new limits. Waiting requests stay in their queues. */
  configure(limits: PoolLimits): void {
    this.#limits = limits
    this.#dealer = undefined
    this.#dispatch()
  }

  /**
   * Obtains seats without waiting. Returns false if too few seats are free, if other requests wait for seats, or if the
   * tick's budget is used up.
   */
  take({ seats, work }: Demand): boolean {
    if (this.#waiting > 0 || !this.#fits(seats)) return false
    // If requests cannot wait, only the number of free seats matters.
    if (!this.#tickBudget.take(work) && this.#limits.queuing !== undefined) return false
    this.#inUse += seats
    this.#demand?.add(seats)
    return true
  }

  /** Returns the queue that a request of the flow would wait in: the flow's queue with the smallest load. */
  queueFor(flow: bigint): FairQueue | Refusal {
    const { queuing } = this.#limits
    if (queuing === undefined) return 'concurrency-limit'
    this.#dealer ??= new Dealer(queuing.queues, queuing.handSize)
    const queue = this.#emptiest(this.#dealer.deal(flow))
    return queue.waiters.size < queuing.queueLengthLimit || this.#waitsForTurn(queuing) ? queue : 'queue-full'
  }

  /**
   * Whether requests wait only for the tick budget rather than for seats. Such requests do not count towards the queue
   * length.
   */
  #waitsForTurn({ queueLengthLimit }: Queuing): boolean {
    return this.#waiting < this.#limits.seats - this.#inUse + queueLengthLimit
  }

  /**
   * Adds a request to its queue. The request may start immediately. If it is alone in its queue and next to be served,
   * it need not wait for a tick budget that other flows have used up.
   */
  join(waiter: Waiter): void {
    const { queue, seats } = waiter
    const isAlone = queue.waiters.size === 0 && queue.executingSeats === 0
    if (queue.waiters.size === 0) queue.due = Math.max(queue.due, this.#virtualTime)
    queue.waiters.add(waiter)
    queue.waitingSeats += seats
    this.#waiting++
    this.#demand?.add(seats)
    if (isAlone && this.#fits(seats) && this.#next() === queue) this.#serve(queue, waiter)
    this.#dispatch()
  }

  /** Removes a waiting request. Returns false if the request already has its seats. */
  leave(waiter: Waiter): boolean {
    const { queue, seats } = waiter
    if (!queue.waiters.delete(waiter)) return false
    queue.waitingSeats -= seats
    this.#waiting--
    this.#demand?.add(-seats)
    // The removed request may have blocked others by needing more seats than were free.
    this.#dispatch()
    this.#forgetIfIdle()
    return true
  }

  /**
   * Releases seats. `queue` is the queue that the request waited in, or undefined if it did not wait. `ranMs` is how
   * long the request occupied the seats.
   */
  release(seats: number, queue?: FairQueue, ranMs = 0): void {
    this.#inUse -= seats
    this.#demand?.add(-seats)
    if (queue !== undefined) {
      queue.executingSeats -= seats
      queue.due += seats * (ranMs - guessedMs)
    }
    if (this.#waiting > 0) this.#dispatch()
    else this.#forgetIfIdle()
  }

  /** Whether enough seats are free. A request that needs more seats than the pool has must run alone. */
  #fits(seats: number): boolean {
    return this.#inUse + seats <= this.#limits.seats || this.#inUse === 0
  }

  /** Returns the first unused queue of the flow. If all queues are in use, returns the queue with the smallest load. */
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
    const existingQueue = this.#queues.get(index)
    if (existingQueue !== undefined) return existingQueue
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
    if (!this.#tickBudget.take(waiter.work)) {
      this.#tickBudget.wait(this)
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

  /**
   * Returns the queue with the earliest due time. If several queues have the same due time, returns the oldest queue.
   */
  #next(): FairQueue {
    let best: FairQueue | undefined
    for (const queue of this.#queues.values())
      if (queue.waiters.size > 0 && (best === undefined || queue.due < best.due)) best = queue
    return best!
  }

  /** Resets the accounting when the pool is idle, so that earlier overuse is forgotten. */
  #forgetIfIdle(): void {
    if (this.#waiting > 0 || this.#inUse > 0 || this.#queues.size === 0) return
    this.#queues.clear()
    this.#virtualTime = 0
  }
}

/** Returns the load of a queue as a number for comparisons. Waiting seats take precedence over occupied seats. */
function loadOf({ waitingSeats, executingSeats }: FairQueue): number {
  return waitingSeats * 1e6 + executingSeats
}

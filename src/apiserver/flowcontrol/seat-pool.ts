/**
 * The seats of one priority level and the queues of requests that wait for them. A request occupies one or more seats
 * while it runs. If enough seats are free and no request is waiting, a request gets its seats after a single
 * comparison. Otherwise, the request waits in one of its flow's queues (`shuffle-shard.ts`).
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

/** Queuing settings of a priority level: the number and length of the queues, and the number of queues per flow. */
export interface Queuing {
  readonly queues: number
  readonly handSize: number
  /** Maximum number of waiting requests per queue. */
  readonly queueLengthLimit: number
}

export interface PoolLimits {
  readonly seats: number
  /** Maximum number of seats that one request can occupy. Defaults to all seats of the pool. */
  readonly maxRequestSeats?: number
  /** The queuing settings. Undefined if requests do not wait. */
  readonly queuing: Queuing | undefined
}

/** The reason for rejecting a request, as a value of the metric label `reason`. */
export type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

/**
 * The seats that a request occupies while it runs, and the work that is charged to the tick budget when the request
 * starts.
 */
export interface Demand {
  readonly seats: number
  readonly work: number
  /** How long the seats remain occupied after the request ends, in milliseconds. */
  readonly extraMs?: number
}

/** A request in a queue, waiting for seats. */
export interface Waiter extends Demand {
  readonly queue: FairQueue
  /** Called when the request has obtained its seats. */
  begin(): void
}

/** Assumed duration of a request in milliseconds, until its actual duration is known. */
const guessedMs = 3

class FairQueue {
  readonly waiters = new Set<Waiter>()
  /** The virtual time at which the first request in the queue should start. Queues are served in this order. */
  due = 0
  waitingSeats = 0
  executingSeats = 0
}

export type { FairQueue }

/** The seats of a priority level. */
export class SeatPool implements Waiting {
  readonly #tickBudget: TickBudget
  #limits: PoolLimits
  /** Assigns queues to each flow. Created when a request first has to wait. */
  #dealer: Dealer | undefined
  #inUse = 0
  #waiting = 0
  /** The virtual time of the queue that was served last. A queue that becomes busy starts at this time. */
  #virtualTime = 0
  /**
   * Queues with waiting or running requests, and queues whose flows must wait because they have used more than their
   * share.
   */
  readonly #queues = new Map<number, FairQueue>()

  /** Measures the demand for seats, if the level takes part in lending. */
  readonly #demand: SeatDemand | undefined

  constructor(limits: PoolLimits, tickBudget: TickBudget, demand?: SeatDemand) {
    this.#limits = limits
    this.#tickBudget = tickBudget
    this.#demand = demand
  }

  get seats(): number {
    return this.#limits.seats
  }

  /** Maximum number of seats that one request may occupy. */
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
    // Without queues, a request cannot wait for the next tick, so it may exceed the budget.
    if (!this.#tickBudget.take(work) && this.#limits.queuing !== undefined) return false
    this.#inUse += seats
    this.#demand?.add(seats)
    return true
  }

  /**
   * Chooses the queue in which a request of the flow has to wait: the least loaded of the flow's queues. Returns the
   * reason for rejection if the request cannot wait.
   */
  queueFor(flow: bigint): FairQueue | Refusal {
    const { queuing } = this.#limits
    if (queuing === undefined) return 'concurrency-limit'
    this.#dealer ??= new Dealer(queuing.queues, queuing.handSize)
    const queue = this.#emptiest(this.#dealer.deal(flow))
    return queue.waiters.size < queuing.queueLengthLimit || this.#waitsForTurn(queuing) ? queue : 'queue-full'
  }

  /**
   * Whether all waiting requests could start if only the tick budget allowed it. In that case, they do not count toward
   * the queue length limit.
   */
  #waitsForTurn({ queueLengthLimit }: Queuing): boolean {
    return this.#waiting < this.#limits.seats - this.#inUse + queueLengthLimit
  }

  /**
   * Adds a request to its queue. The request may start immediately. A request that is alone in its queue and next in
   * order starts even if other flows have used up the tick budget.
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
    // The removed request may have needed more seats than were free, and thus have blocked the requests behind it.
    this.#dispatch()
    this.#forgetIfIdle()
    return true
  }

  /**
   * Returns the seats of a request that has ended. `queue` is the queue in which the request waited, if any. `ranMs` is
   * its duration.
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

  /** Whether enough seats are free. A request that needs more seats than the whole pool has must run alone. */
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
   * Returns the queue to serve next: the one with the earliest due time, or the oldest queue if several are due at that
   * time.
   */
  #next(): FairQueue {
    let best: FairQueue | undefined
    for (const queue of this.#queues.values())
      if (queue.waiters.size > 0 && (best === undefined || queue.due < best.due)) best = queue
    return best!
  }

  /** Forgets all past usage when the pool becomes idle, because fairness only matters between active flows. */
  #forgetIfIdle(): void {
    if (this.#waiting > 0 || this.#inUse > 0 || this.#queues.size === 0) return
    this.#queues.clear()
    this.#virtualTime = 0
  }
}

/** Returns a number that orders queues by load: first by waiting seats, then by seats in use. */
function loadOf({ waitingSeats, executingSeats }: FairQueue): number {
  return waitingSeats * 1e6 + executingSeats
}

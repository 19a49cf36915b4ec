/**
 * What one evaluation of a rule may take. The cost is counted as Kubernetes counts it, and has a limit of its own. What
 * the cost does not see is counted besides: the steps that JavaScript takes, by which the clock is looked at now and
 * then, and the memory that results need. Whatever runs out ends the evaluation.
 */
import { threadMicroseconds } from '../../base/concurrency/thread-time.ts'

/** Thrown when too much was asked for; no operator can do without it. */
export class BudgetExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** How many steps are taken before the clock is looked at: about a millisecond. */
const stepsBetweenLooks = 20_000
/** How long an evaluation may work, in microseconds. Looks are so close that it never holds the thread for much longer. */
const maxTime = 40_000
/** How many elements and characters all results of one evaluation may have. */
const maxAllocated = 10_000_000

/** What evaluating rules may still cost. */
export class Budget {
  cost = 0
  readonly #limit: number
  /** Since the first look: what is done before is not worth one. */
  #began: number | undefined
  #steps = 0
  #allocated = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  charge(cost: number): void {
    this.cost += cost
    this.#steps += cost
    if (this.cost > this.#limit) throw new BudgetExceeded()
    if (this.#steps >= stepsBetweenLooks) this.#look()
  }

  /** Steps that have no cost, or more of them than the cost says. */
  work(steps: number): void {
    this.#steps += steps
    if (this.#steps >= stepsBetweenLooks) this.#look()
  }

  #look(): void {
    this.#steps = 0
    this.#began ??= threadMicroseconds()
    if (threadMicroseconds() - this.#began > maxTime) throw new BudgetExceeded()
  }

  /** Before a result of this size is made. */
  allocate(size: number): void {
    this.#allocated += size
    if (this.#allocated > maxAllocated) throw new BudgetExceeded()
    this.work(size)
  }
}

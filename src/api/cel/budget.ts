/**
 * The budget of one evaluation. The cost is counted like in Kubernetes and has its own limit. Two other quantities are
 * limited too: the steps taken in JavaScript, after which the clock is checked at intervals, and the memory for
 * results. Exceeding any of them ends the evaluation.
 */
import { threadMicroseconds } from '../../base/concurrency/thread-time.ts'

/** Thrown when the budget is exceeded. No operator can ignore it. */
export class BudgetExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** Number of steps between two checks of the clock: about a millisecond. */
const stepsBetweenLooks = 20_000
/**
 * Maximum duration of an evaluation in microseconds. The clock is checked so often that an evaluation never blocks the
 * thread for much longer.
 */
const maxTime = 40_000
/** Maximum total number of elements and characters in all results of one evaluation. */
const maxAllocated = 10_000_000

/** The remaining budget of evaluating rules. */
export class Budget {
  cost = 0
  readonly #limit: number
  /** Set at the first check of the clock. Earlier work is negligible. */
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

  /** Counts steps that have no cost, or that exceed what the cost covers. */
  work(steps: number): void {
    this.#steps += steps
    if (this.#steps >= stepsBetweenLooks) this.#look()
  }

  #look(): void {
    this.#steps = 0
    this.#began ??= threadMicroseconds()
    if (threadMicroseconds() - this.#began > maxTime) throw new BudgetExceeded()
  }

  /** Must be called before a result of this size is created. */
  allocate(size: number): void {
    this.#allocated += size
    if (this.#allocated > maxAllocated) throw new BudgetExceeded()
    this.work(size)
  }
}

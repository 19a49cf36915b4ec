/**
 * The budget of one evaluation. The cost is counted like in Kubernetes and has its own limit. Two other quantities are
 * limited too: the time, which is checked after a number of steps, and the memory for results. Exceeding any limit ends
 * the evaluation.
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
 * Maximum duration of an evaluation in microseconds. Frequent checks of the clock ensure that an evaluation does not
 * block the thread for much longer.
 */
const maxTime = 40_000
/** Maximum total number of elements and characters in all results of one evaluation. */
const maxAllocated = 10_000_000

/** The remaining budget for evaluating rules. */
export class Budget {
  cost = 0
  readonly #limit: number
  /** The time of the first check of the clock. The work before that check is negligible. */
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

  /** Counts steps that have no cost, or whose number exceeds the charged cost. */
  work(steps: number): void {
    this.#steps += steps
    if (this.#steps >= stepsBetweenLooks) this.#look()
  }

  #look(): void {
    this.#steps = 0
    this.#began ??= threadMicroseconds()
    if (threadMicroseconds() - this.#began > maxTime) throw new BudgetExceeded()
  }

  /** Reserves memory. Must be called before a result of this size is created. */
  allocate(size: number): void {
    this.#allocated += size
    if (this.#allocated > maxAllocated) throw new BudgetExceeded()
    this.work(size)
  }
}

/**
 * Limits the cost (counted as in Kubernetes), the duration and the memory use of evaluating an expression. Exceeding
 * any limit ends the evaluation.
 */
import { threadMicroseconds } from '../../base/concurrency/thread-time.ts'

/**
 * Thrown when the budget is exceeded. Unlike evaluation errors, this error is not ignored by operators such as `||`.
 */
export class BudgetExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** Number of steps between clock checks, which take about a millisecond. */
const stepsBetweenLooks = 20_000
/**
 * Maximum duration of an evaluation in microseconds. The clock is checked often, so an evaluation cannot block the
 * thread for much longer.
 */
const maxTime = 40_000
/** Maximum total number of elements and characters in all results of one evaluation. */
const maxAllocated = 10_000_000

/** Tracks the resource use of an evaluation, and ends the evaluation when a limit is exceeded. */
export class Budget {
  cost = 0
  readonly #limit: number
  /**
   * Time at which the clock was started. If no caller has started the clock, the first check starts it, because the
   * work before that check is negligible.
   */
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

  /**
   * Counts steps toward the time limit only. Used for work that Kubernetes does not charge for, or charges too little
   * for.
   */
  work(steps: number): void {
    this.#steps += steps
    if (this.#steps >= stepsBetweenLooks) this.#look()
  }

  /** Starts the clock. Must be called before work that may run for milliseconds between two checks. */
  startClock(): void {
    this.#began ??= threadMicroseconds()
  }

  #look(): void {
    this.#steps = 0
    this.startClock()
    if (threadMicroseconds() - this.#began! > maxTime) throw new BudgetExceeded()
  }

  /** Counts memory against the budget. Must be called before a result of the given size is created. */
  allocate(size: number): void {
    this.#allocated += size
    if (this.#allocated > maxAllocated) throw new BudgetExceeded()
    this.work(size)
  }
}

/**
 * Limits the time of the search for a Pod's devices. The limit is needed because users write the selectors and requests
 * of claims. A search with many combinations or expensive selectors must not delay other Pods.
 */
import { Budget, BudgetExceeded } from '../../../api/cel/budget.ts'
import { threadMicroseconds } from '../../../base/concurrency/thread-time.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'

/** Maximum cost of the selectors on one node. Kubernetes has the same limit for each evaluation. */
const maxCost = 1_000_000
/** Maximum total time of the searches on all nodes in microseconds. `Budget` limits the time per node. */
const maxMicroseconds = 100_000

export class SearchBudget {
  #spentMicroseconds = 0

  /**
   * Runs a search and charges its time to the budget. Returns undefined if the limit for this node or for the Pod is
   * exceeded.
   */
  run<T>(search: (budget: Budget) => T): T | undefined {
    if (this.#spentMicroseconds > maxMicroseconds) return undefined
    const began = threadMicroseconds()
    try {
      return search(new Budget(maxCost))
    } catch (error) {
      if (error instanceof BudgetExceeded) return undefined
      throw error
    } finally {
      this.#spentMicroseconds += threadMicroseconds() - began
    }
  }

  /**
   * Runs work in small steps and charges its time to the budget. Returns undefined if the limit for the Pod is
   * exceeded.
   */
  *runInSteps<T>(work: Sliced<T>): Sliced<T | undefined> {
    for (;;) {
      const began = threadMicroseconds()
      const { done, value } = work.next()
      this.#spentMicroseconds += threadMicroseconds() - began
      if (done === true) return value
      if (this.#spentMicroseconds > maxMicroseconds) return undefined
      yield
    }
  }
}

/**
 * Limits the work of validating one value. `validate` creates an `Effort` for the value, and expensive rules add their
 * work to it.
 */

/** The work that expensive rules have done for one value so far. */
export interface Effort {
  /**
   * Whether no error has been found yet. If so, the rule for a value can assume that all parts of the value are valid.
   */
  readonly isClean: () => boolean
  steps: number
  began: number | undefined
  /**
   * Whether the work has exceeded the budget. The remaining parts of the value are then rejected without validation.
   */
  spent: boolean
}

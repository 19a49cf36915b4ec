/**
 * Limits the effort of validating a value. `validate` creates the object, and expensive rules add their effort to it.
 */

/** The effort that expensive rules have spent on one value so far. */
export interface Effort {
  /**
   * Whether no error has been found yet. If true, the rule for a value can rely on all parts of the value being valid.
   */
  readonly isClean: () => boolean
  steps: number
  began: number | undefined
  /** Whether the effort exceeds the budget. The remaining parts of the value are rejected without validation. */
  spent: boolean
}

/** The effort spent on validating a value: owned by `validate`, counted by expensive rules. */

/** The effort that expensive rules have spent on one value so far. */
export interface Effort {
  /**
   * Whether no error has been found yet. If so, the parts of a value are valid when the rule for the whole value runs.
   */
  readonly isClean: () => boolean
  steps: number
  began: number | undefined
  /** Whether the budget is exhausted. The remaining parts are rejected without validation. */
  spent: boolean
}

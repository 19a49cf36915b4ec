/** Limits the effort for validating a value. `validate` creates the record, and expensive rules add to it. */

/** The effort that expensive rules have spent on one value so far. */
export interface Effort {
  /** Whether no error has been found yet. If true, the rule for a whole value can rely on its parts being valid. */
  readonly isClean: () => boolean
  steps: number
  began: number | undefined
  /** Whether the budget is exhausted. The remaining parts are rejected without validation. */
  spent: boolean
}

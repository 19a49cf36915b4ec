/** Limits the time spent on validating one value. Expensive rules add their work to the value's `Effort`. */

/** Counts the work that expensive rules do for one value. */
export interface Effort {
  /** Whether validation has found no errors so far. If so, a rule can rely on the parts of the value being valid. */
  readonly isClean: () => boolean
  steps: number
  began: number | undefined
  /** Whether the time limit is exceeded. If so, the rest of the value is rejected without validation. */
  spent: boolean
}

/** What it takes to judge a value: kept by `validate`, counted by rules that can take long. */

/** What was done so far to judge one value, by those of its rules that can take long. */
export interface Effort {
  /** Whether no fault was found so far: then the parts of a value are known to be sound when the whole is judged. */
  readonly isClean: () => boolean
  steps: number
  began: number | undefined
  /** No more is done: what is left unjudged is refused. */
  spent: boolean
}

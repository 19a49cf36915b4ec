/** What it takes to judge a value: kept by `validate`, counted by rules that can take long. */

/** What was done so far to judge one value, by those of its rules that can take long. */
export interface Effort {
  steps: number
  began: number | undefined
  /** No more is done: what is left unjudged is refused. */
  spent: boolean
}

/** Evaluates the successPolicy of an Indexed Job: the Job succeeds once a rule is met. */
import type { Job } from '../../../api/kinds/batch/job.ts'
import { IndexSet } from './index-set.ts'

/** Returns the position of the first rule that the succeeded indexes meet, or undefined if they meet no rule. */
export function metSuccessRule({ spec }: Job, succeeded: IndexSet): number | undefined {
  const place = (spec?.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount
    const ruleIndexes = IndexSet.parse(succeededIndexes, spec?.completions ?? 0)
    return succeeded.countCommon(ruleIndexes) >= (succeededCount ?? ruleIndexes.size)
  })
  return place < 0 ? undefined : place
}

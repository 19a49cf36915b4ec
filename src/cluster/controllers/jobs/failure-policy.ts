/** Applies the podFailurePolicy of a Job to a failed pod. The first matching rule determines the action. */
import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'

type Rule = NonNullable<NonNullable<NonNullable<Job['spec']>['podFailurePolicy']>['rules']>[number]
type ExitCodes = NonNullable<Rule['onExitCodes']>

export type FailureAction = 'FailJob' | 'FailIndex' | 'Ignore' | 'Count'

export interface PolicyMatch {
  readonly action: FailureAction
  readonly message: string
}

/** Returns the action of the first rule that matches a failed pod, or undefined if no rule matches. */
export function matchFailurePolicy({ spec }: Job, pod: Pod): PolicyMatch | undefined {
  const rules = spec?.podFailurePolicy?.rules ?? []
  for (const [index, rule] of rules.entries()) {
    const { action = 'Count' } = rule
    if (action === 'FailIndex' && spec?.backoffLimitPerIndex === undefined) continue
    const cause = causeOf(rule, pod)
    if (cause !== undefined)
      return { action: action as FailureAction, message: `${cause} matching ${action} rule at index ${index}` }
  }
  return undefined
}

function causeOf({ onExitCodes, onPodConditions = [] }: Rule, pod: Pod): string | undefined {
  const { namespace, name } = pod.metadata
  if (onExitCodes !== undefined) {
    const exited = exitedContainer(onExitCodes, pod)
    return exited && `Container ${exited.name} for pod ${namespace}/${name} failed with exit code ${exited.exitCode}`
  }
  const conditions = pod.status?.conditions ?? []
  const condition = conditions.find((each) =>
    onPodConditions.some((pattern) => pattern.type === each.type && pattern.status === each.status),
  )
  return condition && `Pod ${namespace}/${name} has condition ${condition.type}`
}

function exitedContainer({ containerName, operator, values = [] }: ExitCodes, { status = {} }: Pod) {
  const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]
  for (const { name, state } of all) {
    const exitCode = state?.terminated?.exitCode ?? 0
    if (exitCode === 0 || (containerName !== undefined && containerName !== name)) continue
    if (values.includes(exitCode) === (operator === 'In')) return { name, exitCode }
  }
  return undefined
}

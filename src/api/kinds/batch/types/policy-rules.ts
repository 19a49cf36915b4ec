/** Validation of the pod failure policy and the success policy against the rest of the Job specification. */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  tooLong,
} from '../../../model/field-error.ts'
import type { PodTemplateSpec } from '../../core/types/pod-template-spec.ts'
import { countIndexes } from './index-list.ts'
import type { FailurePolicy, FailureRule, SuccessPolicy, SuccessRule } from './job-policies.ts'

/** The fields of a Job's spec that are needed to validate its policies. */
interface JobParts {
  template?: PodTemplateSpec
  completionMode?: string
  completions?: number
  backoffLimitPerIndex?: number
  podReplacementPolicy?: string
  podFailurePolicy?: FailurePolicy
  successPolicy?: SuccessPolicy
}

/**
 * Validates that the failure policy refers to existing containers, and that its actions are compatible with the other
 * settings of the Job.
 */
export function checkFailurePolicy(spec: JobParts, path: FieldPath): FieldError[] {
  const { podFailurePolicy, template } = spec
  if (podFailurePolicy === undefined) return []
  const { containers = [], initContainers = [] } = template?.spec ?? {}
  const names = new Set([...containers, ...initContainers].map(({ name = '' }) => name))
  const rules = child(path, 'podFailurePolicy.rules')
  return (podFailurePolicy.rules ?? []).flatMap((rule, i) =>
    checkFailureRule(rule, { spec, names, path: at(rules, i) }),
  )
}

interface RuleSurroundings {
  readonly spec: JobParts
  /** Names of the containers in the pod template. Rules may refer to these names. */
  readonly names: ReadonlySet<string>
  readonly path: FieldPath
}

function checkFailureRule({ action, onExitCodes }: FailureRule, { spec, names, path }: RuleSurroundings): FieldError[] {
  const container = onExitCodes?.containerName
  const why = 'must be one of the container or initContainer names in the pod template'
  return [
    ...(action === 'FailIndex' && spec.backoffLimitPerIndex === undefined
      ? [invalid(child(path, 'action'), action, 'requires backoffLimitPerIndex')]
      : []),
    ...(container === undefined || names.has(container)
      ? []
      : [invalid(child(path, 'onExitCodes.containerName'), container, why)]),
  ]
}

const replacementPolicies = ['Failed', 'TerminatingOrFailed']

/**
 * Requires the pod replacement policy Failed if a Job has a failure policy, because a pod must not be replaced before
 * its result is known.
 */
export function checkReplacement({ podReplacementPolicy: policy, podFailurePolicy }: JobParts, path: FieldPath) {
  const supported = podFailurePolicy === undefined ? replacementPolicies : ['Failed']
  if (policy === undefined || supported.includes(policy)) return []
  return [notSupported(child(path, 'podReplacementPolicy'), policy, supported)]
}

/** Validates the indexes and counts of a success policy, which only Indexed Jobs may have. */
export function checkSuccessPolicy(spec: JobParts, path: FieldPath): FieldError[] {
  const { successPolicy, completionMode, completions = 0 } = spec
  const place = child(path, 'successPolicy')
  if (successPolicy === undefined) return []
  if (completionMode !== 'Indexed') return [invalid(place, successPolicy, 'requires indexed completion mode')]
  const rules = child(place, 'rules')
  return (successPolicy.rules ?? []).flatMap((rule, i) => checkSuccessRule(rule, completions, at(rules, i)))
}

const maxIndexesLength = 65_536

function checkSuccessRule({ succeededIndexes, succeededCount = 0 }: SuccessRule, completions: number, path: FieldPath) {
  const countPath = child(path, 'succeededCount')
  const why = `must be less than or equal to ${completions} (the number of completions)`
  return [
    ...(succeededCount > completions ? [invalid(countPath, succeededCount, why)] : []),
    ...(succeededIndexes === undefined
      ? []
      : checkIndexes({ indexes: succeededIndexes, count: succeededCount, completions }, path)),
  ]
}

interface RequiredIndexes {
  readonly indexes: string
  readonly count: number
  readonly completions: number
}

function checkIndexes({ indexes, count, completions }: RequiredIndexes, path: FieldPath): FieldError[] {
  const place = child(path, 'succeededIndexes')
  const listed = countIndexes(indexes, completions)
  const total = typeof listed === 'string' ? 0 : listed
  const why = `must be less than or equal to ${total} (the number of indexes in succeededIndexes)`
  return [
    ...(indexes.length > maxIndexesLength ? [tooLong(place, maxIndexesLength)] : []),
    ...(typeof listed === 'string' ? [invalid(place, indexes, listed)] : []),
    ...(count > total ? [invalid(child(path, 'succeededCount'), count, why)] : []),
  ]
}

/** The failure policy and the success policy of a Job. `policy-rules.ts` validates them against the rest of the Job. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../model/field-error.ts'
import { checkQualifiedName } from '../../../model/names.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { emulationOf } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { repeatedAt } from '../../core/types/repeated.ts'
import { notNegative } from '../../counts.ts'

/** Maximum number of rules in a policy, and of conditions in a rule. */
const maxRules = 20
const maxExitCodes = 255

const exitCodeFields = {
  containerName: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the container to check. If unset, all containers are checked.',
  }),
  operator: field(2, s.string(), {
    zeroValue: 'write',
    doc: 'Whether the exit code must be one of the values (`In`) or none of them (`NotIn`).',
  }),
  values: field(3, s.list(s.int32(), { list: 'set' }), {
    zeroValue: 'write',
    doc: 'Exit codes to compare with. From 1 to 255 unique values, in ascending order.',
  }),
}

const onExitCodes = s.object(exitCodeFields, {
  name: 'PodFailurePolicyOnExitCodesRequirement',
  doc: 'Matches a failed pod by the exit codes of its containers.',
  check: checkExitCodes,
})

const conditionFields = {
  type: field(1, s.string(), { zeroValue: 'write', doc: 'Type of the pod condition.' }),
  status: field(2, s.string(), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Status of the pod condition. Defaults to True.',
  }),
}

const onPodCondition = s.object(conditionFields, {
  name: 'PodFailurePolicyOnPodConditionsPattern',
  doc: 'A pod condition that a failed pod must have to match a rule.',
  // Earlier Kubernetes versions apply this default only in Jobs, so the Job template of a CronJob must set the status.
  fill: (value, context) => {
    if (isAtLeast(emulationOf(context).version, '1.32')) value.status ||= 'True'
  },
  check: checkCondition,
})

const ruleFields = {
  action: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'What to do if a failed pod matches the rule: `FailJob`, `FailIndex`, `Ignore` or `Count`.',
  }),
  onExitCodes: field(2, onExitCodes, { doc: 'Container exit codes that the rule matches.' }),
  onPodConditions: field(3, s.list(onPodCondition), {
    doc: 'Pod conditions that the rule matches. One matching condition is enough.',
  }),
}

const failureRule = s.object(ruleFields, {
  name: 'PodFailurePolicyRule',
  doc: 'A rule for handling failed pods. Exactly one of `onExitCodes` and `onPodConditions` must be set.',
  check: checkFailureRule,
})

const failurePolicyFields = {
  rules: field(1, s.list(failureRule), {
    zeroValue: 'write',
    doc: 'Rules, checked in order. The first rule that matches a failed pod applies. At most 20 rules.',
  }),
}

export const podFailurePolicy = s.object(failurePolicyFields, {
  name: 'PodFailurePolicy',
  doc: 'How the Job handles failed pods.',
  check: ({ rules = [] }, path) => atMost(maxRules, rules.length, child(path, 'rules')),
})

const successRuleFields = {
  succeededIndexes: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'Indexes that must succeed, as a list of numbers and ranges such as `1,3-5,7`.',
  }),
  succeededCount: field(2, s.int32(), { zeroValue: 'keep', doc: 'Minimum number of indexes that must succeed.' }),
}

const successRule = s.object(successRuleFields, {
  name: 'SuccessPolicyRule',
  doc: 'Specifies when a Job counts as successful. At least one field must be set.',
  check: ({ succeededIndexes, succeededCount }, path) => [
    ...(succeededIndexes === undefined && succeededCount === undefined
      ? [required(path, 'at least one of succeededCount or succeededIndexes must be specified')]
      : []),
    ...notNegative(succeededCount, child(path, 'succeededCount')),
  ],
})

const successPolicyFields = {
  rules: field(1, s.list(successRule), {
    zeroValue: 'write',
    doc: 'Rules, checked in order. The Job succeeds as soon as one rule is met. At most 20 rules.',
  }),
}

export const successPolicy = s.object(successPolicyFields, {
  name: 'SuccessPolicy',
  doc: 'Lets an Indexed Job succeed before all of its indexes have succeeded.',
  check: ({ rules = [] }, path) => [
    ...(rules.length === 0 ? [required(child(path, 'rules'), 'at least one rule must be specified')] : []),
    ...atMost(maxRules, rules.length, child(path, 'rules')),
  ],
})

export type ExitCodes = InferFields<typeof exitCodeFields>
export type PodConditionPattern = InferFields<typeof conditionFields>
export type FailureRule = InferFields<typeof ruleFields>
export type FailurePolicy = InferFields<typeof failurePolicyFields>
export type SuccessRule = InferFields<typeof successRuleFields>
export type SuccessPolicy = InferFields<typeof successPolicyFields>

function atMost(limit: number, count: number, path: FieldPath): FieldError[] {
  return count > limit ? [tooMany(path, count, limit)] : []
}

/** Validates a required field with a fixed set of values. */
function checkChoice(value = '', supported: readonly string[], path: FieldPath): FieldError[] {
  if (value === '') return [required(path, `valid values: ${supported.join(', ')}`)]
  return supported.includes(value) ? [] : [notSupported(path, value, supported)]
}

function checkFailureRule(
  { action, onExitCodes, onPodConditions = [] }: FailureRule,
  path: FieldPath,
  context: RuleContext,
) {
  const byCondition = onPodConditions.length > 0
  const byCode = onExitCodes !== undefined
  return [
    ...checkChoice(action, actionsOf(context), child(path, 'action')),
    ...atMost(maxRules, onPodConditions.length, child(path, 'onPodConditions')),
    ...(byCode && byCondition ? [ruleFault(path, 'onExitCodes and onPodConditions cannot both be set')] : []),
    ...(byCode || byCondition ? [] : [ruleFault(path, 'one of onExitCodes and onPodConditions is required')]),
  ]
}

function actionsOf(context: RuleContext): string[] {
  const perIndex = isAtLeast(emulationOf(context).version, '1.28') ? ['FailIndex'] : []
  return ['Count', ...perIndex, 'FailJob', 'Ignore']
}

/** Returns an error for an entire policy rule. The error does not contain the value. */
function ruleFault(path: FieldPath, detail: string): FieldError {
  return { fault: 'FieldValueInvalid', path, text: `Invalid value: ${detail}` }
}

function checkCondition({ type = '', status }: PodConditionPattern, path: FieldPath): FieldError[] {
  return [
    ...checkQualifiedName(type).map((fault) => invalid(child(path, 'type'), type, fault)),
    ...checkChoice(status, ['False', 'True', 'Unknown'], child(path, 'status')),
  ]
}

function checkExitCodes({ operator, values = [] }: ExitCodes, path: FieldPath): FieldError[] {
  const place = child(path, 'values')
  const repeated = repeatedAt(values.map(String))
  return [
    ...checkChoice(operator, ['In', 'NotIn'], child(path, 'operator')),
    ...(values.length === 0 ? [invalid(place, values, 'at least one value is required')] : []),
    ...atMost(maxExitCodes, values.length, place),
    ...values.flatMap((code, i) => [
      ...(operator === 'In' && code === 0 ? [invalid(at(place, i), code, 'must not be 0 for the In operator')] : []),
      ...(repeated.has(i) ? [duplicate(at(place, i), code)] : []),
    ]),
    ...(values.some((code, i) => i > 0 && values[i - 1]! > code) ? [invalid(place, values, 'must be ordered')] : []),
  ]
}

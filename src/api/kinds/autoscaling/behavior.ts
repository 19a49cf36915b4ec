/** How fast a HorizontalPodAutoscaler scales: the rules for each direction, filled in once one is given. */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

const maxPeriodSeconds = 1800
const maxWindowSeconds = 3600
const selectPolicies = ['Disabled', 'Max', 'Min']
const policyTypes = ['Percent', 'Pods']

const policyFields = {
  type: field(1, s.string(), { zero: 'write', doc: 'What value counts: Pods, or Percent of the replicas.' }),
  value: field(2, s.int32(), { zero: 'write', doc: 'How much may change in the period; above 0.' }),
  periodSeconds: field(3, s.int32(), { zero: 'write', doc: 'The period; from 1 to 1800 seconds.' }),
}

const policy = s.object(policyFields, {
  name: 'HPAScalingPolicy',
  doc: 'How much may change within a period.',
  check: checkPolicy,
})

const ruleFields = {
  stabilizationWindowSeconds: field(3, s.int32(), {
    zero: 'keep',
    doc: 'How long past advice is heeded, so that it does not flap; from 0 to 3600 seconds.',
  }),
  selectPolicy: field(1, s.string(), {
    zero: 'keep',
    doc: 'Which policy counts: the one that allows the most (Max, the default), the least (Min), or none (Disabled).',
  }),
  policies: field(2, s.list(policy), { zero: 'keep', doc: 'The policies; at least one.' }),
}

const rules = s.object(ruleFields, {
  name: 'HPAScalingRules',
  doc: 'How fast it scales in one direction.',
  check: checkRules,
})

const behaviorFields = {
  scaleUp: field(1, rules, { doc: 'How fast it adds. By default 4 Pods or 100 percent in 15 seconds, at once.' }),
  scaleDown: field(2, rules, { doc: 'How fast it takes away. By default up to 100 percent in 15 seconds.' }),
}

export type ScalingPolicy = InferFields<typeof policyFields>
export type ScalingRules = InferFields<typeof ruleFields>
export type Behavior = InferFields<typeof behaviorFields>

/** Nothing is filled in where no behavior is given at all. */
export const behavior = s.object(behaviorFields, {
  name: 'HorizontalPodAutoscalerBehavior',
  doc: 'How fast it scales, in each direction.',
  fill: (value) => {
    value.scaleUp = { ...defaultScaleUp(), ...value.scaleUp }
    value.scaleDown = { ...defaultScaleDown(), ...value.scaleDown }
  },
})

function defaultScaleUp(): ScalingRules {
  return {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  }
}

function defaultScaleDown(): ScalingRules {
  return { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }
}

function checkRules(
  { stabilizationWindowSeconds: window = 0, selectPolicy = 'Max', policies = [] }: ScalingRules,
  path: FieldPath,
): FieldError[] {
  const windowPath = child(path, 'stabilizationWindowSeconds')
  return [
    ...(window < 0 ? [invalid(windowPath, window, 'must be greater than or equal to zero')] : []),
    ...atMost(window, maxWindowSeconds, windowPath),
    ...(selectPolicies.includes(selectPolicy)
      ? []
      : [notSupported(child(path, 'selectPolicy'), selectPolicy, selectPolicies)]),
    ...(policies.length > 0 ? [] : [required(child(path, 'policies'), 'at least one policy is needed')]),
  ]
}

function checkPolicy({ type = '', value = 0, periodSeconds = 0 }: ScalingPolicy, path: FieldPath): FieldError[] {
  return [
    ...(policyTypes.includes(type) ? [] : [notSupported(child(path, 'type'), type, policyTypes)]),
    ...aboveZero(value, child(path, 'value')),
    ...aboveZero(periodSeconds, child(path, 'periodSeconds')),
    ...atMost(periodSeconds, maxPeriodSeconds, child(path, 'periodSeconds')),
  ]
}

function aboveZero(value: number, path: FieldPath): FieldError[] {
  return value > 0 ? [] : [invalid(path, value, 'must be greater than zero')]
}

function atMost(value: number, limit: number, path: FieldPath): FieldError[] {
  return value <= limit ? [] : [invalid(path, value, `must be less than or equal to ${limit}`)]
}

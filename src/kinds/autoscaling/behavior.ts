/** How fast a HorizontalPodAutoscaler scales: the rules for each direction, filled in once one is given. */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

const maxPeriodSeconds = 1800
const maxWindowSeconds = 3600
const selectPolicies = ['Disabled', 'Max', 'Min']
const policyTypes = ['Percent', 'Pods']

const policyFields = {
  type: field(1, s.string(), { zero: 'write' }),
  value: field(2, s.int32(), { zero: 'write' }),
  periodSeconds: field(3, s.int32(), { zero: 'write' }),
}

const ruleFields = {
  selectPolicy: field(1, s.string(), { zero: 'keep' }),
  policies: field(2, s.list(s.object(policyFields, { check: checkPolicy })), { zero: 'keep' }),
  stabilizationWindowSeconds: field(3, s.int32(), { zero: 'keep' }),
}

const rules = s.object(ruleFields, { check: checkRules })

const behaviorFields = { scaleUp: field(1, rules), scaleDown: field(2, rules) }

export type ScalingPolicy = InferFields<typeof policyFields>
export type ScalingRules = InferFields<typeof ruleFields>
export type Behavior = InferFields<typeof behaviorFields>

/** Nothing is filled in where no behavior is given at all. */
export const behavior = s.object(behaviorFields, {
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

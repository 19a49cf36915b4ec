/** A HorizontalPodAutoscalerBehavior limits how fast an autoscaler scales up and down. */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { parseQuantity } from '../../model/quantity.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

const maxPeriodSeconds = 1800
const maxWindowSeconds = 3600
const selectPolicies = ['Disabled', 'Max', 'Min']
const policyTypes = ['Percent', 'Pods']

const policyFields = {
  type: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'How the value is interpreted: as a number of pods (`Pods`) or as a percentage of the current replicas (`Percent`).',
  }),
  value: field(2, s.int32(), {
    zeroValue: 'write',
    doc: 'Maximum change to the number of replicas within the period. Must be greater than 0.',
  }),
  periodSeconds: field(3, s.int32(), { zeroValue: 'write', doc: 'Length of the period in seconds, from 1 to 1800.' }),
}

const policy = s.object(policyFields, {
  name: 'HPAScalingPolicy',
  doc: 'Limits how much the number of replicas can change within a period.',
  check: checkPolicy,
})

const ruleFields = {
  stabilizationWindowSeconds: field(3, s.int32(), {
    zeroValue: 'keep',
    doc: 'Number of seconds, from 0 to 3600, during which earlier recommendations are taken into account to prevent flapping.',
  }),
  selectPolicy: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'Which policy applies: the one that allows the largest change (`Max`, the default), the one that allows the smallest change (`Min`), or none, so that scaling is disabled (`Disabled`).',
  }),
  policies: field(2, s.list(policy), { zeroValue: 'keep', doc: 'Scaling policies. At least one policy is required.' }),
  tolerance: field(4, s.quantity(), {
    zeroValue: 'keep',
    since: '1.33',
    gate: 'HPAConfigurableTolerance',
    doc: "Maximum relative deviation of a metric from its target that does not trigger scaling. If unset, the controller's tolerance applies, which is 0.1 by default.",
  }),
}

const rules = s.object(ruleFields, {
  name: 'HPAScalingRules',
  doc: 'Scaling rules for one direction.',
  check: checkRules,
})

const behaviorFields = {
  scaleUp: field(1, rules, {
    doc: 'Rules for scaling up. By default, up to 4 pods or 100 percent of the pods are added every 15 seconds, whichever is more.',
  }),
  scaleDown: field(2, rules, {
    doc: 'Rules for scaling down. By default, up to 100 percent of the pods are removed every 15 seconds.',
  }),
}

export type ScalingPolicy = InferFields<typeof policyFields>
export type ScalingRules = InferFields<typeof ruleFields>
export type Behavior = InferFields<typeof behaviorFields>

/** The behavior of an autoscaler. If the behavior is set, its unset scaling rules get defaults. */
export const behavior = s.object(behaviorFields, {
  name: 'HorizontalPodAutoscalerBehavior',
  doc: 'Rules for scaling up and for scaling down.',
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
  { stabilizationWindowSeconds: window = 0, selectPolicy = 'Max', policies = [], tolerance }: ScalingRules,
  path: FieldPath,
): FieldError[] {
  const windowPath = child(path, 'stabilizationWindowSeconds')
  return [
    ...(window < 0 ? [invalid(windowPath, window, 'must be greater than or equal to zero')] : []),
    ...atMost(window, maxWindowSeconds, windowPath),
    ...(selectPolicies.includes(selectPolicy)
      ? []
      : [notSupported(child(path, 'selectPolicy'), selectPolicy, selectPolicies)]),
    ...(policies.length > 0 ? [] : [required(child(path, 'policies'), 'at least one policy is required')]),
    ...checkTolerance(tolerance, child(path, 'tolerance')),
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

function checkTolerance(tolerance: string | undefined, path: FieldPath): FieldError[] {
  const { nanos } = (tolerance !== undefined && parseQuantity(tolerance)) || { nanos: 0n }
  return nanos < 0n ? [invalid(path, tolerance, 'must be greater than or equal to 0')] : []
}

function aboveZero(value: number, path: FieldPath): FieldError[] {
  return value > 0 ? [] : [invalid(path, value, 'must be greater than zero')]
}

function atMost(value: number, limit: number, path: FieldPath): FieldError[] {
  return value <= limit ? [] : [invalid(path, value, `must be less than or equal to ${limit}`)]
}

/** HorizontalPodAutoscalerBehavior: limits how fast an autoscaler scales up and down. */
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
    doc: 'Unit of the value: Pods, or Percent of the current replicas.',
  }),
  value: field(2, s.int32(), {
    zeroValue: 'write',
    doc: 'Maximum change in the number of replicas within the period. Must be greater than 0.',
  }),
  periodSeconds: field(3, s.int32(), { zeroValue: 'write', doc: 'Length of the period in seconds, from 1 to 1800.' }),
}

const policy = s.object(policyFields, {
  name: 'HPAScalingPolicy',
  doc: 'A limit on the change in the number of replicas within a period.',
  check: checkPolicy,
})

const ruleFields = {
  stabilizationWindowSeconds: field(3, s.int32(), {
    zeroValue: 'keep',
    doc: 'Seconds of past recommendations to consider, to prevent flapping. From 0 to 3600.',
  }),
  selectPolicy: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'Choice of policy: Max (largest change, default), Min (smallest change) or Disabled (no scaling).',
  }),
  policies: field(2, s.list(policy), { zeroValue: 'keep', doc: 'Scaling policies, at least one.' }),
  tolerance: field(4, s.quantity(), {
    zeroValue: 'keep',
    since: '1.33',
    gate: 'HPAConfigurableTolerance',
    doc: 'Relative difference between the metric and its target below which nothing is scaled. Unset means 0.1.',
  }),
}

const rules = s.object(ruleFields, {
  name: 'HPAScalingRules',
  doc: 'Scaling rules for one direction.',
  check: checkRules,
})

const behaviorFields = {
  scaleUp: field(1, rules, {
    doc: 'Rules for scaling up. By default, adds up to 4 pods or 100 percent per 15 seconds, whichever is more.',
  }),
  scaleDown: field(2, rules, {
    doc: 'Rules for scaling down. By default, removes up to 100 percent of the pods per 15 seconds.',
  }),
}

export type ScalingPolicy = InferFields<typeof policyFields>
export type ScalingRules = InferFields<typeof ruleFields>
export type Behavior = InferFields<typeof behaviorFields>

/** Fills in default rules only if a behavior is set. */
export const behavior = s.object(behaviorFields, {
  name: 'HorizontalPodAutoscalerBehavior',
  doc: 'Scaling rules for both directions.',
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

/** Scheduling constraints of a pod: affinity to nodes and pods, tolerations of taints, and topology spread. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkDnsLabel, checkLabelValue } from '../../../model/names.ts'
import { isComparison, isDecimalInt64 } from '../../../model/tolerations.ts'
import { isEnabled, isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s, withVersions } from '../../../schema/schema.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import { freeLabelSelector, labelSelector } from '../../meta/label-selector.ts'
import { checkLabelKeys, checkUnmergedKeys } from './match-label-keys.ts'
import { nodeSelector, nodeSelectorTerm } from './node-selector.ts'
import { repeatedAt } from './repeated.ts'

const preferredSchedulingTerm = s.object(
  {
    weight: field(1, s.int32(), { zeroValue: 'write', doc: 'Weight of the preference, from 1 to 100.' }),
    preference: field(2, nodeSelectorTerm, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Node selector term for the preferred nodes.',
    }),
  },
  {
    name: 'PreferredSchedulingTerm',
    doc: 'A weighted preference for nodes.',
    check: ({ weight = 0 }, path) => checkWeight(weight, path),
  },
)

const nodeAffinity = s.object(
  {
    requiredDuringSchedulingIgnoredDuringExecution: field(1, nodeSelector, {
      doc: 'Nodes on which the pod may be scheduled. Later changes to node labels do not evict the pod.',
    }),
    preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(preferredSchedulingTerm), {
      doc: 'Weighted preferences for nodes.',
    }),
  },
  { name: 'NodeAffinity', doc: 'Scheduling constraints relative to nodes.' },
)

const podAffinityTermFields = {
  labelSelector: field(1, labelSelector, { doc: 'Label selector for the other pods.' }),
  namespaces: field(2, s.list(s.string()), {
    doc: "Namespaces of the other pods. If namespaces and namespaceSelector are both unset, defaults to this pod's namespace.",
  }),
  topologyKey: field(3, s.string(), {
    zeroValue: 'write',
    doc: 'Node label that defines a topology domain: nodes with equal values belong to the same domain. Required.',
  }),
  namespaceSelector: field(4, labelSelector, {
    doc: 'Label selector for further namespaces with other pods. An empty selector matches all namespaces.',
  }),
  matchLabelKeys: field(5, s.list(s.string()), {
    since: '1.29',
    gate: 'MatchLabelKeysInPodAffinity',
    doc: "Label keys. This pod's values for these labels are added to labelSelector with the operator In.",
  }),
  mismatchLabelKeys: field(6, s.list(s.string()), {
    since: '1.29',
    gate: 'MatchLabelKeysInPodAffinity',
    doc: "Label keys. This pod's values for these labels are added to labelSelector with the operator NotIn.",
  }),
}

const podAffinityTerm = s.object(podAffinityTermFields, {
  name: 'PodAffinityTerm',
  doc: 'Label selector for other pods, and the topology key that defines which nodes count as near.',
  check: checkPodAffinityTerm,
})

const weightedPodAffinityTerm = s.object(
  {
    weight: field(1, s.int32(), { zeroValue: 'write', doc: 'Weight of the term, from 1 to 100.' }),
    podAffinityTerm: field(2, podAffinityTerm, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Label selector for the other pods, and the topology key.',
    }),
  },
  {
    name: 'WeightedPodAffinityTerm',
    doc: 'A weighted preference relative to other pods.',
    check: ({ weight = 0 }, path) => checkWeight(weight, path),
  },
)

const podAffinityFields = {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, s.list(podAffinityTerm), {
    doc: 'Constraints that must hold when the pod is scheduled. Later changes do not evict the pod.',
  }),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(weightedPodAffinityTerm), {
    doc: 'Weighted preferences that the scheduler tries to meet.',
  }),
}

const podAffinity = s.object(podAffinityFields, {
  name: 'PodAffinity',
  doc: 'Other pods that should share a topology domain with a pod.',
})
const podAntiAffinity = s.object(podAffinityFields, {
  name: 'PodAntiAffinity',
  doc: 'Other pods that should not share a topology domain with a pod.',
})

export const affinity = s.object(
  {
    nodeAffinity: field(1, nodeAffinity, { doc: 'Scheduling constraints for the pod relative to nodes.' }),
    podAffinity: field(2, podAffinity, { doc: 'Other pods that should share a topology domain with this pod.' }),
    podAntiAffinity: field(3, podAntiAffinity, {
      doc: 'Other pods that should not share a topology domain with this pod.',
    }),
  },
  { name: 'Affinity', doc: 'Scheduling constraints for a pod.' },
)

const comparison = { since: '1.35', gate: 'TaintTolerationComparisonOperators' } as const

const tolerationOperator = withVersions(s.oneOf('Equal', 'Exists', 'Gt', 'Lt'), { Gt: comparison, Lt: comparison })

const tolerationFields = {
  key: field(1, s.string(), { doc: 'Key of the taint. Unset with operator Exists matches all keys.' }),
  operator: field(2, tolerationOperator, {
    doc: 'Operator: Equal compares the values, Exists matches any value. Lt and Gt compare integers. Defaults to Equal.',
  }),
  value: field(3, s.string(), { doc: 'Value of the taint. Must be empty with operator Exists.' }),
  effect: field(4, s.oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'), {
    doc: 'Effect of the taint: NoSchedule, PreferNoSchedule or NoExecute. Unset matches all effects.',
  }),
  tolerationSeconds: field(5, s.int64(), {
    zeroValue: 'keep',
    doc: 'Seconds for which a NoExecute taint is tolerated. Unset means forever.',
  }),
}

export type Toleration = InferFields<typeof tolerationFields>

export const toleration = s.object(tolerationFields, {
  name: 'core.v1.Toleration',
  doc: 'Matches taints that a pod tolerates.',
  check: (value, path, context) => [
    ...checkTolerationKey(value, path),
    ...checkTolerationValue(value, path),
    ...checkComparison(value, path, context),
  ],
})

const spreadFields = {
  maxSkew: field(1, s.int32(), {
    zeroValue: 'write',
    doc: 'Maximum difference in the number of matching pods between topology domains. Must be greater than 0.',
  }),
  topologyKey: field(2, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Node label that defines a topology domain: nodes with equal values belong to the same domain. Required.',
  }),
  whenUnsatisfiable: field(3, s.string(), {
    zeroValue: 'write',
    doc: 'Action if the constraint cannot be met: DoNotSchedule or ScheduleAnyway.',
  }),
  labelSelector: field(4, freeLabelSelector, { doc: 'Label selector for the pods to count.' }),
  minDomains: field(5, s.int32(), {
    zeroValue: 'keep',
    since: '1.24',
    gate: 'MinDomainsInPodTopologySpread',
    doc: 'Minimum number of topology domains. With fewer domains, the global minimum of pods counts as 0.',
  }),
  nodeAffinityPolicy: field(6, s.string(), {
    zeroValue: 'keep',
    since: '1.25',
    gate: 'NodeInclusionPolicyInPodTopologySpread',
    doc: 'Whether node affinity and nodeSelector restrict the counted nodes: Honor (default) or Ignore.',
  }),
  nodeTaintsPolicy: field(7, s.string(), {
    zeroValue: 'keep',
    since: '1.25',
    gate: 'NodeInclusionPolicyInPodTopologySpread',
    doc: 'Whether taints restrict the counted nodes: Honor or Ignore (default).',
  }),
  matchLabelKeys: field(8, s.list(s.string()), {
    since: '1.25',
    gate: 'MatchLabelKeysInPodTopologySpread',
    doc: "Label keys. This pod's values for these labels are added to labelSelector.",
  }),
}

export type SpreadConstraint = InferFields<typeof spreadFields>

export const topologySpreadConstraint = s.object(spreadFields, {
  name: 'TopologySpreadConstraint',
  doc: 'A constraint on how evenly pods are spread across topology domains.',
  check: checkSpread,
})

function checkWeight(weight: number, path: FieldPath): FieldError[] {
  return weight >= 1 && weight <= 100 ? [] : [invalid(child(path, 'weight'), weight, 'must be in the range 1-100')]
}

export type PodAffinityTerm = InferFields<typeof podAffinityTermFields>

function checkPodAffinityTerm(term: PodAffinityTerm, path: FieldPath): FieldError[] {
  const { namespaces = [], topologyKey = '' } = term
  const place = child(path, 'topologyKey')
  return [
    ...checkLabelKeys(term, path),
    ...namespaces.flatMap((name) => checkDnsLabel(name).map((text) => invalid(child(path, 'namespace'), name, text))),
    ...(topologyKey === '' ? [required(place, 'can not be empty')] : []),
    ...checkLabelKey(topologyKey, place),
  ]
}

function checkTolerationKey({ key = '', operator }: Toleration, path: FieldPath): FieldError[] {
  if (key !== '') return checkLabelKey(key, child(path, 'key'))
  if (operator === 'Exists') return []
  return [invalid(child(path, 'operator'), operator, 'must be Exists when `key` is empty, which means all keys')]
}

function checkTolerationValue(value: Toleration, path: FieldPath): FieldError[] {
  const { operator = 'Equal', value: text = '', effect = '', tolerationSeconds } = value
  const place = child(path, 'operator')
  return [
    ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? [invalid(child(path, 'effect'), effect, "must be 'NoExecute' when `tolerationSeconds` is set")]
      : []),
    ...(operator === 'Equal' ? checkLabelValue(text).map((fault) => invalid(place, text, fault)) : []),
    ...(operator === 'Exists' && text !== '' ? [invalid(place, text, "`value` must be empty with 'Exists'")] : []),
  ]
}

function checkComparison({ operator, value = '' }: Toleration, path: FieldPath, context: RuleContext): FieldError[] {
  // In earlier versions, the schema rejects the operators.
  if (!isComparison(operator) || !isSince('1.35', context)) return []
  if (!isEnabled(comparison.gate, context))
    return [notSupported(child(path, 'operator'), operator, ['Equal', 'Exists'])]
  return isDecimalInt64(value)
    ? []
    : [invalid(child(path, 'value'), value, 'must be a 64-bit integer without leading zeros')]
}

const spreadActions = ['DoNotSchedule', 'ScheduleAnyway']

const inclusionPolicies = ['Honor', 'Ignore']

function checkSpread(constraint: SpreadConstraint, path: FieldPath, context: RuleContext): FieldError[] {
  const { maxSkew = 0, whenUnsatisfiable = '' } = constraint
  const isMerged = isEnabled('MatchLabelKeysInPodTopologySpreadSelectorMerge', context)
  return [
    ...checkMinDomains(constraint, child(path, 'minDomains')),
    ...(['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const)
      .filter((name) => constraint[name] !== undefined && !inclusionPolicies.includes(constraint[name]))
      .map((name) => notSupported(child(path, name), constraint[name], inclusionPolicies)),
    ...(isMerged ? checkLabelKeys : checkUnmergedKeys)(constraint, path),
    ...(maxSkew > 0 ? [] : [invalid(child(path, 'maxSkew'), maxSkew, 'must be greater than zero')]),
    ...(spreadActions.includes(whenUnsatisfiable)
      ? []
      : [notSupported(child(path, 'whenUnsatisfiable'), whenUnsatisfiable, spreadActions)]),
  ]
}

function checkMinDomains({ minDomains, whenUnsatisfiable = '' }: SpreadConstraint, path: FieldPath): FieldError[] {
  if (minDomains === undefined) return []
  return [
    ...(minDomains > 0 ? [] : [invalid(path, minDomains, 'must be greater than zero')]),
    ...(whenUnsatisfiable === '' || whenUnsatisfiable === 'DoNotSchedule'
      ? []
      : [invalid(path, minDomains, `requires whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`)]),
  ]
}

/**
 * Each pair of topologyKey and whenUnsatisfiable must be unique. The first duplicate is reported, because clients
 * expect that.
 */
export function checkRepeatedSpread(constraints: readonly SpreadConstraint[], path: FieldPath): FieldError[] {
  const names = constraints.map(({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`)
  const last = names.length - 1
  return [...repeatedAt(names.toReversed())].map((i) =>
    duplicate(child(at(path, last - i), '{topologyKey, whenUnsatisfiable}'), names[last - i]!),
  )
}

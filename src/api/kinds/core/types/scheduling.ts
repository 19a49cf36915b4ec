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
      doc: 'Node selector term that describes the preferred nodes.',
    }),
  },
  {
    name: 'PreferredSchedulingTerm',
    doc: 'A weighted node selector term for preferred nodes.',
    check: ({ weight = 0 }, path) => checkWeight(weight, path),
  },
)

const nodeAffinity = s.object(
  {
    requiredDuringSchedulingIgnoredDuringExecution: field(1, nodeSelector, {
      doc: 'Requirements on the node. They apply only when the pod is scheduled, so later changes to node labels do not evict the pod.',
    }),
    preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(preferredSchedulingTerm), {
      doc: 'Weighted preferences for nodes. The scheduler favors nodes with a higher total weight.',
    }),
  },
  { name: 'NodeAffinity', doc: 'Scheduling constraints relative to nodes.' },
)

const podAffinityTermFields = {
  labelSelector: field(1, labelSelector, { doc: 'Label selector for the other pods.' }),
  namespaces: field(2, s.list(s.string()), {
    doc: "Namespaces of the other pods. If `namespaces` and `namespaceSelector` are both unset, defaults to this pod's namespace.",
  }),
  topologyKey: field(3, s.string(), {
    zeroValue: 'write',
    doc: 'Node label that defines the topology domains. Nodes with the same value for this label belong to the same domain. Required.',
  }),
  namespaceSelector: field(4, labelSelector, {
    doc: 'Label selector for additional namespaces of the other pods. An empty selector selects all namespaces.',
  }),
  matchLabelKeys: field(5, s.list(s.string()), {
    since: '1.29',
    gate: 'MatchLabelKeysInPodAffinity',
    doc: "Label keys. This pod's values for these labels are added to `labelSelector` with the operator `In`.",
  }),
  mismatchLabelKeys: field(6, s.list(s.string()), {
    since: '1.29',
    gate: 'MatchLabelKeysInPodAffinity',
    doc: "Label keys. This pod's values for these labels are added to `labelSelector` with the operator `NotIn`.",
  }),
}

const podAffinityTerm = s.object(podAffinityTermFields, {
  name: 'PodAffinityTerm',
  doc: 'Selects other pods by label, and specifies which nodes belong to the same topology domain.',
  check: checkPodAffinityTerm,
})

const weightedPodAffinityTerm = s.object(
  {
    weight: field(1, s.int32(), { zeroValue: 'write', doc: 'Weight of the term, from 1 to 100.' }),
    podAffinityTerm: field(2, podAffinityTerm, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Term that selects the other pods and defines the topology domains.',
    }),
  },
  {
    name: 'WeightedPodAffinityTerm',
    doc: 'A weighted pod affinity or anti-affinity term.',
    check: ({ weight = 0 }, path) => checkWeight(weight, path),
  },
)

const podAffinityFields = {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, s.list(podAffinityTerm), {
    doc: 'Requirements on other pods. They apply only when the pod is scheduled, so later changes do not evict the pod.',
  }),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(weightedPodAffinityTerm), {
    doc: 'Weighted preferences that the scheduler tries to satisfy.',
  }),
}

const podAffinity = s.object(podAffinityFields, {
  name: 'PodAffinity',
  doc: 'Attracts a pod to topology domains in which certain other pods run.',
})
const podAntiAffinity = s.object(podAffinityFields, {
  name: 'PodAntiAffinity',
  doc: 'Keeps a pod away from topology domains in which certain other pods run.',
})

export const affinity = s.object(
  {
    nodeAffinity: field(1, nodeAffinity, { doc: 'Scheduling constraints for the pod relative to nodes.' }),
    podAffinity: field(2, podAffinity, { doc: 'Other pods with which this pod should share a topology domain.' }),
    podAntiAffinity: field(3, podAntiAffinity, {
      doc: 'Other pods with which this pod should not share a topology domain.',
    }),
  },
  { name: 'Affinity', doc: 'Scheduling constraints for a pod.' },
)

const comparison = { since: '1.35', gate: 'TaintTolerationComparisonOperators' } as const

const tolerationOperator = withVersions(s.oneOf('Equal', 'Exists', 'Gt', 'Lt'), { Gt: comparison, Lt: comparison })

const tolerationFields = {
  key: field(1, s.string(), {
    doc: 'Key of the taint. If unset, the operator must be `Exists`, and taints with any key match.',
  }),
  operator: field(2, tolerationOperator, {
    doc: "How to compare the taint's value: `Equal` requires the same value, `Exists` accepts any value, and `Lt` and `Gt` compare integers. Defaults to `Equal`.",
  }),
  value: field(3, s.string(), { doc: 'Value of the taint. Must be empty if the operator is `Exists`.' }),
  effect: field(4, s.oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'), {
    doc: 'Effect of the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`. If unset, taints with any effect match.',
  }),
  tolerationSeconds: field(5, s.int64(), {
    zeroValue: 'keep',
    doc: 'Number of seconds for which a NoExecute taint is tolerated. If unset, the taint is tolerated forever.',
  }),
}

export type Toleration = InferFields<typeof tolerationFields>

export const toleration = s.object(tolerationFields, {
  name: 'core.v1.Toleration',
  doc: 'Allows a pod to run on nodes with matching taints.',
  check: (value, path, context) => [
    ...checkTolerationKey(value, path),
    ...checkTolerationValue(value, path),
    ...checkComparison(value, path, context),
  ],
})

const spreadFields = {
  maxSkew: field(1, s.int32(), {
    zeroValue: 'write',
    doc: 'Maximum allowed difference in the number of matching pods between topology domains. Must be greater than 0.',
  }),
  topologyKey: field(2, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Node label that defines the topology domains. Nodes with the same value for this label belong to the same domain. Required.',
  }),
  whenUnsatisfiable: field(3, s.string(), {
    zeroValue: 'write',
    doc: 'What to do if the constraint cannot be met: leave the pod unscheduled (`DoNotSchedule`) or schedule it anyway (`ScheduleAnyway`).',
  }),
  labelSelector: field(4, freeLabelSelector, { doc: 'Label selector for the pods to count.' }),
  minDomains: field(5, s.int32(), {
    zeroValue: 'keep',
    since: '1.24',
    gate: 'MinDomainsInPodTopologySpread',
    doc: 'Minimum number of topology domains. If there are fewer domains, the lowest pod count among them is treated as 0.',
  }),
  nodeAffinityPolicy: field(6, s.string(), {
    zeroValue: 'keep',
    since: '1.25',
    gate: 'NodeInclusionPolicyInPodTopologySpread',
    doc: "Whether to count only nodes that match the pod's node affinity and node selector (`Honor`, the default) or all nodes (`Ignore`).",
  }),
  nodeTaintsPolicy: field(7, s.string(), {
    zeroValue: 'keep',
    since: '1.25',
    gate: 'NodeInclusionPolicyInPodTopologySpread',
    doc: 'Whether to count only nodes whose taints the pod tolerates (`Honor`) or all nodes (`Ignore`, the default).',
  }),
  matchLabelKeys: field(8, s.list(s.string()), {
    since: '1.25',
    gate: 'MatchLabelKeysInPodTopologySpread',
    doc: "Label keys. This pod's values for these labels are added to `labelSelector`.",
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
  // Before 1.35, the schema already rejects comparison operators.
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

/** Requires unique pairs of topologyKey and whenUnsatisfiable. Reports only the first duplicate, as clients expect. */
export function checkRepeatedSpread(constraints: readonly SpreadConstraint[], path: FieldPath): FieldError[] {
  const names = constraints.map(({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`)
  const last = names.length - 1
  return [...repeatedAt(names.toReversed())].map((i) =>
    duplicate(child(at(path, last - i), '{topologyKey, whenUnsatisfiable}'), names[last - i]!),
  )
}

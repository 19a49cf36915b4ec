/** Where a pod may run: affinity to nodes and to other pods, tolerations of taints, spread over a topology. */
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
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import { checkDnsLabel, checkLabelValue } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { freeLabelSelector, labelSelector } from '../../meta/label-selector.ts'
import { nodeSelector, nodeSelectorTerm } from './node-selector.ts'
import { repeatedAt } from './repeated.ts'

const preferredSchedulingTerm = s.object(
  {
    weight: field(1, s.int32(), { zero: 'write', doc: 'How much the preference counts; from 1 to 100.' }),
    preference: field(2, nodeSelectorTerm, { zero: 'write', published: 'required', doc: 'The nodes.' }),
  },
  {
    name: 'PreferredSchedulingTerm',
    doc: 'Nodes that are preferred, and how much.',
    check: ({ weight = 0 }, path) => checkWeight(weight, path),
  },
)

const nodeAffinity = s.object(
  {
    requiredDuringSchedulingIgnoredDuringExecution: field(1, nodeSelector, {
      doc: 'The nodes that are possible at all. Not looked at again once the pod runs.',
    }),
    preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(preferredSchedulingTerm), {
      doc: 'The nodes that are better, by weight.',
    }),
  },
  { name: 'NodeAffinity', doc: 'The nodes that a pod may run on, and those that it likes.' },
)

const podAffinityTermFields = {
  labelSelector: field(1, labelSelector, { doc: 'The other pods.' }),
  namespaces: field(2, s.list(s.string()), { doc: 'Their namespaces; that of this pod if none are named.' }),
  topologyKey: field(3, s.string(), {
    zero: 'write',
    doc: 'The label of nodes: those with the same value are one place.',
  }),
  namespaceSelector: field(4, labelSelector, {
    doc: 'Further namespaces of theirs, by labels; an empty one selects all.',
  }),
}

const podAffinityTerm = s.object(podAffinityTermFields, {
  name: 'PodAffinityTerm',
  doc: 'Other pods, and the label of nodes that says what it means to be in the same place as they.',
  check: checkPodAffinityTerm,
})

const weightedPodAffinityTerm = s.object(
  {
    weight: field(1, s.int32(), { zero: 'write', doc: 'How much the term counts; from 1 to 100.' }),
    podAffinityTerm: field(2, podAffinityTerm, {
      zero: 'write',
      published: 'required',
      doc: 'The other pods, and what a place is.',
    }),
  },
  {
    name: 'WeightedPodAffinityTerm',
    doc: 'Other pods that it should run near to, or away from, and their weight.',
    check: ({ weight = 0 }, path) => checkWeight(weight, path),
  },
)

const podAffinityFields = {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, s.list(podAffinityTerm), {
    doc: 'What must hold when a place is chosen. Not looked at again once the pod runs.',
  }),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(weightedPodAffinityTerm), {
    doc: 'What is better, by weight.',
  }),
}

const podAffinity = s.object(podAffinityFields, { name: 'PodAffinity', doc: 'Pods that a pod wants to be near to.' })
const podAntiAffinity = s.object(podAffinityFields, {
  name: 'PodAntiAffinity',
  doc: 'Pods that a pod wants to be away from.',
})

export const affinity = s.object(
  {
    nodeAffinity: field(1, nodeAffinity, { doc: 'The nodes it can or would run on.' }),
    podAffinity: field(2, podAffinity, { doc: 'The pods it wants to be near to.' }),
    podAntiAffinity: field(3, podAntiAffinity, { doc: 'The pods it wants to be away from.' }),
  },
  { name: 'Affinity', doc: 'What a pod wants of its place.' },
)

const tolerationFields = {
  key: field(1, s.string(), { doc: 'The key of the taint; all keys if unset, with Exists.' }),
  operator: field(2, s.oneOf('Equal', 'Exists'), {
    doc: 'How value counts: Equal, the default, or Exists, for any value.',
  }),
  value: field(3, s.string(), { doc: 'The value of the taint.' }),
  effect: field(4, s.oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'), {
    doc: 'The effect of the taint: NoSchedule, PreferNoSchedule or NoExecute; all if unset.',
  }),
  tolerationSeconds: field(5, s.int64(), {
    zero: 'keep',
    doc: 'How long a NoExecute taint is borne; for good if unset.',
  }),
}

export type Toleration = InferFields<typeof tolerationFields>

export const toleration = s.object(tolerationFields, {
  name: 'core.v1.Toleration',
  doc: 'Taints that a pod tolerates, and for how long.',
  check: (value, path) => [...checkTolerationKey(value, path), ...checkTolerationValue(value, path)],
})

const spreadFields = {
  maxSkew: field(1, s.int32(), { zero: 'write', doc: 'By how many pods places may differ; above 0.' }),
  topologyKey: field(2, s.string(), {
    zero: 'write',
    required: true,
    doc: 'The label of nodes: those with the same value are one place.',
  }),
  whenUnsatisfiable: field(3, s.string(), {
    zero: 'write',
    doc: 'What is done where it cannot be met: DoNotSchedule or ScheduleAnyway.',
  }),
  labelSelector: field(4, freeLabelSelector, { doc: 'The pods that are counted.' }),
}

type SpreadConstraint = InferFields<typeof spreadFields>

export const topologySpreadConstraint = s.object(spreadFields, {
  name: 'TopologySpreadConstraint',
  doc: 'How evenly pods are to be spread over the places that a label of nodes distinguishes.',
  check: checkSpread,
})

function checkWeight(weight: number, path: FieldPath): FieldError[] {
  return weight >= 1 && weight <= 100 ? [] : [invalid(child(path, 'weight'), weight, 'must be in the range 1-100')]
}

function checkPodAffinityTerm(
  { namespaces = [], topologyKey = '' }: InferFields<typeof podAffinityTermFields>,
  path: FieldPath,
): FieldError[] {
  const place = child(path, 'topologyKey')
  return [
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

const spreadActions = ['DoNotSchedule', 'ScheduleAnyway']

function checkSpread({ maxSkew = 0, whenUnsatisfiable = '' }: SpreadConstraint, path: FieldPath): FieldError[] {
  return [
    ...(maxSkew > 0 ? [] : [invalid(child(path, 'maxSkew'), maxSkew, 'must be greater than zero')]),
    ...(spreadActions.includes(whenUnsatisfiable)
      ? []
      : [notSupported(child(path, 'whenUnsatisfiable'), whenUnsatisfiable, spreadActions)]),
  ]
}

/** One constraint for each topology and way to take it. Of two the first is reported, as clients expect. */
export function checkRepeatedSpread(constraints: readonly SpreadConstraint[], path: FieldPath): FieldError[] {
  const names = constraints.map(({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`)
  const last = names.length - 1
  return [...repeatedAt(names.toReversed())].map((i) =>
    duplicate(child(at(path, last - i), '{topologyKey, whenUnsatisfiable}'), names[last - i]!),
  )
}

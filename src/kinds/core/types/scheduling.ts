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
import { checkLabelKey } from '../../../model/label-rules.ts'
import { checkDnsLabel, checkLabelValue } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { labelSelector } from './label-selector.ts'
import { nodeSelector, nodeSelectorTerm } from './node-selector.ts'
import { repeatedAt } from './repeated.ts'

const preferredSchedulingTerm = s.object(
  { weight: field(1, s.int32(), { zero: 'write' }), preference: field(2, nodeSelectorTerm, { zero: 'write' }) },
  {
    name: 'PreferredSchedulingTerm',
    doc: 'Nodes that are preferred, and how much.',
    check: ({ weight = 0 }, path) => checkWeight(weight, path),
  },
)

const nodeAffinity = s.object(
  {
    requiredDuringSchedulingIgnoredDuringExecution: field(1, nodeSelector),
    preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(preferredSchedulingTerm)),
  },
  { name: 'NodeAffinity', doc: 'The nodes that a pod may run on, and those that it likes.' },
)

const podAffinityTermFields = {
  labelSelector: field(1, labelSelector),
  namespaces: field(2, s.list(s.string())),
  topologyKey: field(3, s.string(), { zero: 'write' }),
  namespaceSelector: field(4, labelSelector),
}

const podAffinityTerm = s.object(podAffinityTermFields, {
  name: 'PodAffinityTerm',
  doc: 'Other pods, and the label of nodes that says what it means to be in the same place as they.',
  check: checkPodAffinityTerm,
})

const weightedPodAffinityTerm = s.object(
  { weight: field(1, s.int32(), { zero: 'write' }), podAffinityTerm: field(2, podAffinityTerm, { zero: 'write' }) },
  {
    name: 'WeightedPodAffinityTerm',
    doc: 'Other pods whose nearness counts, and how much.',
    check: ({ weight = 0 }, path) => checkWeight(weight, path),
  },
)

const podAffinityFields = {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, s.list(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, s.list(weightedPodAffinityTerm)),
}

const podAffinity = s.object(podAffinityFields, { name: 'PodAffinity', doc: 'Pods that a pod wants to be near to.' })
const podAntiAffinity = s.object(podAffinityFields, {
  name: 'PodAntiAffinity',
  doc: 'Pods that a pod wants to be away from.',
})

export const affinity = s.object(
  {
    nodeAffinity: field(1, nodeAffinity),
    podAffinity: field(2, podAffinity),
    podAntiAffinity: field(3, podAntiAffinity),
  },
  { name: 'Affinity', doc: 'What a pod wants of its place.' },
)

const tolerationFields = {
  key: field(1, s.string()),
  operator: field(2, s.oneOf('Equal', 'Exists')),
  value: field(3, s.string()),
  effect: field(4, s.oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute')),
  tolerationSeconds: field(5, s.int64(), { zero: 'keep' }),
}

export type Toleration = InferFields<typeof tolerationFields>

export const toleration = s.object(tolerationFields, {
  name: 'Toleration',
  doc: 'Taints of nodes that a pod puts up with, and for how long.',
  check: (value, path) => [...checkTolerationKey(value, path), ...checkTolerationValue(value, path)],
})

const spreadFields = {
  maxSkew: field(1, s.int32(), { zero: 'write' }),
  topologyKey: field(2, s.string(), { zero: 'write', required: true }),
  whenUnsatisfiable: field(3, s.string(), { zero: 'write' }),
  labelSelector: field(4, labelSelector),
}

type SpreadConstraint = InferFields<typeof spreadFields>

export const topologySpreadConstraint = s.object(spreadFields, {
  name: 'TopologySpreadConstraint',
  doc: 'How evenly pods are to be spread over the places that a label of nodes tells apart.',
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

/** One constraint for each topology and way to take it. Of two the first is told, as clients are used to. */
export function checkRepeatedSpread(constraints: readonly SpreadConstraint[], path: FieldPath): FieldError[] {
  const names = constraints.map(({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`)
  const last = names.length - 1
  return [...repeatedAt(names.toReversed())].map((i) =>
    duplicate(child(at(path, last - i), '{topologyKey, whenUnsatisfiable}'), names[last - i]!),
  )
}

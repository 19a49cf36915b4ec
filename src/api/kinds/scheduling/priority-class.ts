/**
 * PriorityClass: a name for how important pods are. The names that begin with `system-` are for the classes that every
 * cluster has; their numbers lie above all others.
 */
import { type FieldError, forbidden, notSupported, required } from '../../model/field-error.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { beginGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'

/** The highest number that is not the system's. */
const highestValue = 1_000_000_000
const systemPrefix = 'system-'
const preemptionPolicies = ['PreemptLowerPriority', 'Never']

/** The classes that every cluster has. */
export const systemPriorityClasses = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'For pods that must not be moved away from their node, the most important of all.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description: 'For pods that must run in the cluster, and may move to another node if need be.',
  },
] as const

const fields = {
  value: field(2, s.int32(), {
    zero: 'write',
    doc: 'How important the pods are: the higher, the more. At most 1000000000. Cannot change.',
  }),
  globalDefault: field(3, s.boolean(), {
    doc: 'Whether it is the class of pods that name none. There should be one such class.',
  }),
  description: field(4, s.string(), { doc: 'When to use the class, for people.' }),
  preemptionPolicy: field(5, s.string(), {
    zero: 'keep',
    default: 'PreemptLowerPriority',
    doc: 'Whether pods of lower priority are preempted: PreemptLowerPriority, the default, or Never. Cannot change.',
  }),
}

export type PriorityClass = ObjectOf<typeof fields>

const columns: readonly Column<PriorityClass>[] = [
  nameColumn,
  { ...column('Value', 'How important the pods are.', ({ value }) => value ?? 0), type: 'integer' },
  {
    ...column(
      'Global-Default',
      'Whether it is the class of pods that name none.',
      (object) => object.globalDefault ?? false,
    ),
    type: 'boolean',
  },
  ageColumn,
]

export const priorityClass = defineKind({
  names: {
    group: 'scheduling',
    version: 'v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    shortNames: ['pc'],
    scope: 'Cluster',
  },
  doc: 'A name for how important pods are.',
  fields,
  rules: {
    prepareForCreate: beginGeneration,
    validateCreate: (object) => [...checkValue(object), ...checkPolicy(object.preemptionPolicy)],
    validateUpdate: (next, previous) => [
      ...(next.value === previous.value ? [] : [forbidden('value', 'may not be changed in an update.')]),
      ...immutableField('preemptionPolicy', next.preemptionPolicy, previous.preemptionPolicy),
    ],
  },
  life: {
    permanent: ({ metadata }) => systemPriorityClasses.some(({ name }) => name === metadata.name),
  },
  views: {
    columns,
  },
})

function checkValue(object: PriorityClass): FieldError[] {
  const { metadata, value = 0 } = object
  if (metadata.name?.startsWith(systemPrefix)) return checkSystemClass(object)
  if (value <= highestValue) return []
  return [forbidden('value', `maximum allowed value of a user defined priority is ${highestValue}`)]
}

function checkSystemClass({ metadata, value, globalDefault = false }: PriorityClass): FieldError[] {
  const { name = '' } = metadata
  const known = systemPriorityClasses.find((each) => each.name === name)
  if (known?.value === value && !globalDefault) return []
  const why = known ? `${name} has the value ${known.value} and is no default` : 'there is no system class of this name'
  const reserved = `priority class names with '${systemPrefix}' prefix are reserved for system use only`
  return [forbidden('metadata.name', `${reserved}: ${why}`)]
}

function checkPolicy(policy: string | undefined): FieldError[] {
  const path = 'preemptionPolicy'
  if (policy === undefined || preemptionPolicies.includes(policy)) return []
  return [policy === '' ? required(path) : notSupported(path, policy, preemptionPolicies)]
}

/**
 * A PriorityClass maps a name to a pod priority. Names with the prefix `system-` are reserved for the built-in classes,
 * whose values exceed all others.
 */
import { type FieldError, forbidden, notSupported, required } from '../../model/field-error.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { beginGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'

/** The highest value that a user-defined class may have. */
const highestValue = 1_000_000_000
const systemPrefix = 'system-'
const preemptionPolicies = ['PreemptLowerPriority', 'Never']

/** The built-in priority classes, with the descriptions that Kubernetes stores. */
export const systemPriorityClasses = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
] as const

const fields = {
  value: field(2, s.int32(), {
    zeroValue: 'write',
    optionalSince: '1.36',
    doc: 'Priority of the pods. Pods with higher values take precedence. At most 1000000000 for user-defined classes. Immutable.',
  }),
  globalDefault: field(3, s.boolean(), {
    doc: 'Whether the class is the default for pods that do not specify a class. Only one class should be the default.',
  }),
  description: field(4, s.string(), { doc: 'Human-readable guidance on when to use the class.' }),
  preemptionPolicy: field(5, s.string({ listed: preemptionPolicies }), {
    zeroValue: 'keep',
    default: 'PreemptLowerPriority',
    doc: 'Whether pods in this class preempt pods with a lower priority: `PreemptLowerPriority` (the default) or `Never`. Immutable.',
  }),
}

export type PriorityClass = ObjectOf<typeof fields>

const columns: readonly Column<PriorityClass>[] = [
  nameColumn,
  { ...column('Value', 'Priority of the pods.', ({ value }) => value ?? 0), type: 'integer' },
  {
    ...column(
      'Global-Default',
      'Whether the class is the default for pods that do not specify a class.',
      (object) => object.globalDefault ?? false,
    ),
    type: 'boolean',
  },
  ageColumn,
  {
    ...column(
      'PreemptionPolicy',
      'Whether pods in this class preempt pods with a lower priority.',
      ({ preemptionPolicy }: PriorityClass) => {
        return preemptionPolicy ?? ''
      },
    ),
    since: '1.32',
  },
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
  doc: 'Maps a class name to the priority of the pods in the class.',
  fields,
  rules: {
    prepareForCreate: beginGeneration,
    validateCreate: (object) => [...checkValue(object), ...checkPolicy(object.preemptionPolicy)],
    validateUpdate: (next, previous) => [
      ...(next.value === previous.value ? [] : [forbidden('value', 'may not be changed in an update.')]),
      ...immutableField('preemptionPolicy', next.preemptionPolicy, previous.preemptionPolicy),
    ],
  },
  lifecycle: {
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
  const systemClass = systemPriorityClasses.find((each) => each.name === name)
  if (systemClass?.value === value && !globalDefault) return []
  const why = systemClass
    ? `${name} has the value ${systemClass.value} and is not the default`
    : 'no system class has this name'
  const reserved = `priority class names with '${systemPrefix}' prefix are reserved for system use only`
  return [forbidden('metadata.name', `${reserved}: ${why}`)]
}

function checkPolicy(policy: string | undefined): FieldError[] {
  const path = 'preemptionPolicy'
  if (policy === undefined || preemptionPolicies.includes(policy)) return []
  return [policy === '' ? required(path) : notSupported(path, policy, preemptionPolicies)]
}

/**
 * RuntimeClass: a way to run containers that nodes are set up for. Pods name it; what it costs beyond their containers
 * and on which nodes it is available is said here. Its handler cannot change.
 */
import { child, duplicate, type FieldError, type FieldPath, invalid } from '../../model/field-error.ts'
import { checkDnsLabel } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, type ObjectSchema, s } from '../../schema/schema.ts'
import { checkLabels } from '../../selectors/label-rules.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { resourceList, roundResources } from '../core/types/resource-list.ts'
import { checkContainerResources } from '../core/types/resources.ts'
import { toleration as podToleration, type Toleration } from '../core/types/scheduling.ts'
import { immutableField } from '../immutable.ts'

const overhead = s.object(
  { podFixed: field(1, resourceList, { doc: 'What each pod takes beyond its containers, by resource.' }) },
  {
    name: 'Overhead',
    doc: 'What running pods this way costs.',
    fill: ({ podFixed }) => roundResources(podFixed),
    check: ({ podFixed = {} }, path, { vendor }) => checkContainerResources({ limits: podFixed }, path, vendor),
  },
)

/** Faults are reported one step deeper than the list is, as clients expect: `tolerations.tolerations[0]`. */
const toleration: ObjectSchema<Toleration> = {
  ...podToleration,
  faultsAt: stepDown,
  check: (value, path, context, effort) => podToleration.check?.(value, stepDown(path), context, effort) ?? [],
}

function stepDown(path: FieldPath): FieldPath {
  const index = path.lastIndexOf('[')
  return `${child(path.slice(0, index), 'tolerations')}${path.slice(index)}`
}

const schedulingFields = {
  nodeSelector: field(1, s.map(s.string(), { atomic: true }), { doc: 'The labels of the nodes that can run pods so.' }),
  tolerations: field(2, s.list(toleration), { doc: 'The taints of these nodes that such pods put up with.' }),
}

const scheduling = s.object(schedulingFields, {
  name: 'Scheduling',
  doc: 'The nodes that can run pods this way.',
  check: checkScheduling,
})

const fields = {
  handler: field(2, s.string(), {
    zero: 'write',
    doc: 'What nodes call it in their configuration, as a DNS label. Cannot change.',
  }),
  overhead: field(3, overhead, { doc: 'What it costs beyond the containers.' }),
  scheduling: field(4, scheduling, { doc: 'The nodes that can do it; all if unset.' }),
}

export type RuntimeClass = ObjectOf<typeof fields>

export const runtimeClass = defineKind({
  names: {
    group: 'node',
    version: 'v1',
    kind: 'RuntimeClass',
    plural: 'runtimeclasses',
    scope: 'Cluster',
  },
  doc: 'A way to run containers that nodes are set up for.',
  fields,
  rules: {
    validate: ({ handler = '' }) => checkDnsLabel(handler).map((fault) => invalid('handler', handler, fault)),
    validateUpdate: (next, previous) => immutableField('handler', next.handler, previous.handler),
  },
  life: {
    createOnUpdate: true,
    needsVersion: true,
    plainFinalizers: true,
  },
  views: {
    columns: [nameColumn, column('Handler', '', ({ handler }: RuntimeClass) => handler ?? ''), ageColumn],
  },
})

export const runtimeClassV1beta1 = defineVersion(runtimeClass, {
  version: 'v1beta1',
  fields,
  deprecated: { since: 'v1.22', until: 'v1.25' },
})

function checkScheduling(
  { nodeSelector, tolerations = [] }: InferFields<typeof schedulingFields>,
  path: FieldPath,
): FieldError[] {
  const place = child(path, 'tolerations')
  return [
    ...checkLabels(nodeSelector, child(path, 'nodeSelector')),
    ...[...repeatedAt(tolerations.map(textOf))].map((i) => duplicate(`${place}[${i}]`, tolerations[i]!)),
  ]
}

/** What it tolerates: for how long does not make it another. */
function textOf({ key, operator, value, effect }: Toleration): string {
  return JSON.stringify([key, operator, value, effect])
}

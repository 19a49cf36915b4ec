/**
 * A RuntimeClass represents a container runtime configuration that nodes provide and pods select by name. It declares
 * the overhead per pod and the nodes that support the runtime. The handler is immutable.
 */
import { child, duplicate, type FieldError, type FieldPath, invalid, required } from '../../model/field-error.ts'
import { checkDnsLabel } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, type ObjectSchema, s } from '../../schema/schema.ts'
import { checkLabels } from '../../selectors/label-rules.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { resourceList, roundResources } from '../core/types/resource-list.ts'
import { checkContainerResources } from '../core/types/resources.ts'
import { toleration as podToleration, type Toleration } from '../core/types/scheduling.ts'
import { immutableField } from '../immutable.ts'

const overhead = s.object(
  {
    podFixed: field(1, resourceList, {
      doc: 'Amounts of resources that each pod consumes in addition to the resources of its containers, keyed by resource name.',
    }),
  },
  {
    name: 'Overhead',
    doc: 'Resources that a pod consumes in addition to those of its containers.',
    fill: ({ podFixed }) => roundResources(podFixed),
    check: ({ podFixed = {} }, path, { vendor }) => checkContainerResources({ limits: podFixed }, path, vendor),
  },
)

/**
 * Before 1.36, error paths are one level deeper than the list, as in `tolerations.tolerations[0]`, because clients
 * expect such paths.
 */
const toleration: ObjectSchema<Toleration> = {
  ...podToleration,
  faultsAt: stepDown,
  check: (value, path, context, effort) => podToleration.check?.(value, stepDown(path, context), context, effort) ?? [],
}

function stepDown(path: FieldPath, context: RuleContext): FieldPath {
  if (isAtLeast(emulationOf(context).version, '1.36')) return path
  const index = path.lastIndexOf('[')
  return `${child(path.slice(0, index), 'tolerations')}${path.slice(index)}`
}

const schedulingFields = {
  nodeSelector: field(1, s.map(s.string(), { atomic: true }), {
    doc: 'Labels of the nodes that support the runtime. They are added to the node selector of pods in this class.',
  }),
  tolerations: field(2, s.list(toleration), { doc: 'Tolerations added to pods in this class.' }),
}

const scheduling = s.object(schedulingFields, {
  name: 'Scheduling',
  doc: 'Restricts pods to nodes that support the runtime.',
  check: checkScheduling,
})

const fields = {
  handler: field(2, s.string(), {
    zeroValue: 'write',
    doc: "Name of the runtime handler in the node's configuration. Must be a DNS label. Immutable.",
  }),
  overhead: field(3, overhead, {
    doc: 'Resources that each pod in this class consumes in addition to those of its containers.',
  }),
  scheduling: field(4, scheduling, {
    doc: 'Restricts pods to nodes that support the runtime. If unset, all nodes are assumed to support it.',
  }),
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
  doc: 'A container runtime configuration that pods can select.',
  fields,
  rules: {
    validate: ({ handler = '' }, context) =>
      handler === '' && isAtLeast(emulationOf(context).version, '1.36')
        ? [required('handler')]
        : checkDnsLabel(handler).map((fault) => invalid('handler', handler, fault)),
    validateUpdate: (next, previous) => immutableField('handler', next.handler, previous.handler),
  },
  lifecycle: {
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
  until: '1.25',
  deprecated: { since: '1.22' },
})

function checkScheduling(
  { nodeSelector, tolerations = [] }: InferFields<typeof schedulingFields>,
  path: FieldPath,
): FieldError[] {
  const place = child(path, 'tolerations')
  return [
    ...checkLabels(nodeSelector, child(path, 'nodeSelector')),
    ...[...repeatedAt(tolerations.map(tolerationKey))].map((i) => duplicate(`${place}[${i}]`, tolerations[i]!)),
  ]
}

/** Returns a key that identifies a toleration by all fields except `tolerationSeconds`. */
function tolerationKey({ key, operator, value, effect }: Toleration): string {
  return JSON.stringify([key, operator, value, effect])
}

/** A ReplicationController keeps a number of identical pods running. ReplicaSet and Deployment supersede it. */
import { type FieldError, invalid, required } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { conditionsOf } from '../conditions.ts'
import { noneNegative, notAbove, notNegative, partsOfReplicas } from '../counts.ts'
import { isNewGeneration } from '../generation.ts'
import {
  checkRunsForever,
  checkSharedDisks,
  containerColumns,
  countColumn,
  nameWarnings,
  templateWarnings,
} from '../pod-templates.ts'
import { scaleOf } from '../scalable.ts'
import { specAndStatus } from '../spec-and-status.ts'
import { statusKeepingLabels } from '../template-labels.ts'
import { resetGated } from './types/gated-parts.ts'
import { podTemplateSpec } from './types/pod-template-spec.ts'

const spec = s.object(
  {
    replicas: field(1, s.int32(), { zeroValue: 'keep', default: 1, doc: 'Desired number of pods. Defaults to 1.' }),
    minReadySeconds: field(4, s.int32(), {
      doc: 'Number of seconds that a new pod must be ready without a container crashing before the pod counts as available. Defaults to 0.',
    }),
    selector: field(2, s.map(s.string(), { atomic: true }), {
      doc: 'Labels that identify the managed pods. Defaults to the labels of the template.',
    }),
    template: field(3, podTemplateSpec, { doc: 'Template for new pods.' }),
  },
  { name: 'ReplicationControllerSpec', doc: 'Specification of a ReplicationController.' },
)

const conditions = conditionsOf('ReplicationControllerCondition', 'ReplicationController')

const status = s.object(
  {
    replicas: field(1, s.int32(), { zeroValue: 'write', published: 'required', doc: 'Number of existing pods.' }),
    fullyLabeledReplicas: field(2, s.int32(), {
      doc: 'Number of existing pods that have all the labels of the template.',
    }),
    readyReplicas: field(4, s.int32(), { doc: 'Number of ready pods.' }),
    availableReplicas: field(5, s.int32(), {
      doc: 'Number of pods that have been ready for at least `minReadySeconds`.',
    }),
    observedGeneration: field(3, s.int64(), { doc: 'Most recent generation observed by the controller.' }),
    conditions: field(6, conditions, { doc: 'Conditions of the ReplicationController.' }),
  },
  { name: 'ReplicationControllerStatus', doc: 'Observed status of a ReplicationController.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired number of pods, and the template for creating them.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status, set by the replication controller.' }),
}

export type ReplicationController = ObjectOf<typeof fields>

const rules = specAndStatus<ReplicationController>({
  fillDefaults: fillFromTemplate,
  generation: ({ spec }) => spec,
  newStatus: () => ({ replicas: 0 }),
  prepareForCreate: ({ spec }, context) => resetGated({ spec: spec?.template?.spec }, 'spec.template.spec', context),
  prepareForUpdate: ({ spec }, previous, context) =>
    resetGated({ spec: spec?.template?.spec, previous: previous.spec?.template?.spec }, 'spec.template.spec', context),
  validate: checkSpec,
  validateUpdate: ({ status }) => checkCounts(status ?? {}),
  warnings: (object, previous, context) => [
    ...nameWarnings(object.metadata, previous, context),
    ...(isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, 'spec.template', context) : []),
  ],
})

export const replicationController = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    shortNames: ['rc'],
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'Maintains a given number of identical pods. Use a Deployment instead.',
  fields,
  rules,
  lifecycle: {
    orphansByDefault: true,
  },
  views: {
    columns: [
      nameColumn,
      countColumn('Desired', 'Desired number of pods.', ({ spec }: ReplicationController) => spec?.replicas),
      countColumn('Current', 'Number of existing pods.', ({ status }: ReplicationController) => status?.replicas),
      countColumn('Ready', 'Number of ready pods.', ({ status }: ReplicationController) => status?.readyReplicas),
      ageColumn,
      ...containerColumns(({ spec }: ReplicationController) => spec?.template),
      column('Selector', 'Labels that identify the managed pods.', selectorOf, 1),
    ],
    selectable: ({ status }) => ({ 'status.replicas': String(status?.replicas ?? 0) }),
    subresources: { status: statusKeepingLabels, scale: scaleOf(selectorOf, rules.prepareForUpdate) },
  },
})

/** Sets missing labels, and a missing selector, to the labels of the template. */
function fillFromTemplate({ metadata, spec }: ReplicationController): void {
  const labels = spec?.template?.metadata?.labels
  if (spec === undefined || labels === undefined) return
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels }
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels }
}

function checkSpec({ spec = {} }: ReplicationController, context: RuleContext): FieldError[] {
  const { selector = {}, template } = spec
  const labels = template?.metadata?.labels ?? {}
  const selects = Object.entries(selector).every(([key, value]) => labels[key] === value)
  return [
    ...notNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...notNegative(spec.replicas, 'spec.replicas'),
    ...(template === undefined ? [required('spec.template')] : []),
    ...(template === undefined || selects
      ? []
      : [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]),
    ...checkRunsForever(template?.spec, 'spec.template.spec', 'ReplicationController'),
    ...((spec.replicas ?? 0) > 1
      ? checkSharedDisks(template?.spec?.volumes, 'spec.template.spec.volumes', context)
      : []),
  ]
}

const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const

function checkCounts(status: NonNullable<ReplicationController['status']>): FieldError[] {
  const { readyReplicas, availableReplicas } = status
  return [
    ...noneNegative(status, ['replicas', ...parts, 'observedGeneration'], 'status'),
    ...partsOfReplicas(status, parts),
    ...notAbove(availableReplicas, readyReplicas, { path: 'status.availableReplicas', of: 'readyReplicas' }),
  ]
}

function selectorOf({ spec }: ReplicationController): string {
  return Object.entries(spec?.selector ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',')
}

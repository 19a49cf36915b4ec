/** ReplicationController: keeps a number of pods of one template running. ReplicaSet and Deployment came after it. */
import { type FieldError, invalid, required } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
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
  templateWarnings,
} from '../pod-templates.ts'
import { scaleOf } from '../scalable.ts'
import { specAndStatus } from '../spec-and-status.ts'
import { statusKeepingLabels } from '../template-labels.ts'
import { dropUnserved } from './types/pod-spec.ts'
import { podTemplateSpec } from './types/pod-template-spec.ts'

const spec = s.object(
  {
    replicas: field(1, s.int32(), { zero: 'keep', default: 1, doc: 'The desired number of pods; 1 by default.' }),
    minReadySeconds: field(4, s.int32(), {
      doc: 'How long a pod must have been ready, without a crash, to count as available.',
    }),
    selector: field(2, s.map(s.string(), { atomic: true }), {
      doc: 'The labels of the pods that count; those of the template by default.',
    }),
    template: field(3, podTemplateSpec, { doc: 'What missing pods are made from.' }),
  },
  { name: 'ReplicationControllerSpec', doc: 'The desired pods.' },
)

const conditions = conditionsOf('ReplicationControllerCondition', 'ReplicationController')

const status = s.object(
  {
    replicas: field(1, s.int32(), { zero: 'write', published: 'required', doc: 'How many pods there are.' }),
    fullyLabeledReplicas: field(2, s.int32(), { doc: 'How many of them have all labels of the template.' }),
    readyReplicas: field(4, s.int32(), { doc: 'How many of them are ready.' }),
    availableReplicas: field(5, s.int32(), { doc: 'How many of them have been ready for long enough.' }),
    observedGeneration: field(3, s.int64(), { doc: 'The generation that the controller has seen.' }),
    conditions: field(6, conditions, { doc: 'What else is known of it.' }),
  },
  { name: 'ReplicationControllerStatus', doc: 'How many pods there are.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The desired pods.' }),
  status: field(3, status, { zero: 'write', doc: 'How many there are. Set by the controller.' }),
}

export type ReplicationController = ObjectOf<typeof fields>

const rules = specAndStatus<ReplicationController>({
  fillDefaults: fillFromTemplate,
  generation: ({ spec }) => spec,
  newStatus: () => ({ replicas: 0 }),
  prepareForCreate: ({ spec }, context) => dropUnserved(spec?.template?.spec, 'spec.template.spec', context),
  prepareForUpdate: ({ spec }, _, context) => dropUnserved(spec?.template?.spec, 'spec.template.spec', context),
  validate: checkSpec,
  validateUpdate: ({ status }) => checkCounts(status ?? {}),
  warnings: (object, previous, { vendor }) =>
    isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, { path: 'spec.template', vendor }) : [],
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
  doc: 'Keeps a number of pods of one template running.',
  fields,
  rules,
  life: {
    orphansByDefault: true,
  },
  views: {
    columns: [
      nameColumn,
      countColumn('Desired', 'The desired number of pods.', ({ spec }: ReplicationController) => spec?.replicas),
      countColumn('Current', 'How many pods there are.', ({ status }: ReplicationController) => status?.replicas),
      countColumn('Ready', 'How many of them are ready.', ({ status }: ReplicationController) => status?.readyReplicas),
      ageColumn,
      ...containerColumns(({ spec }: ReplicationController) => spec?.template),
      column('Selector', 'The labels of the pods that count.', selectorOf, 1),
    ],
    selectable: ({ status }) => ({ 'status.replicas': String(status?.replicas ?? 0) }),
    subresources: { status: statusKeepingLabels, scale: scaleOf(selectorOf, rules.prepareForUpdate) },
  },
})

/** What the template says counts where the controller itself says nothing. */
function fillFromTemplate({ metadata, spec }: ReplicationController): void {
  const labels = spec?.template?.metadata?.labels
  if (spec === undefined || labels === undefined) return
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels }
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels }
}

function checkSpec({ spec = {} }: ReplicationController): FieldError[] {
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
    ...((spec.replicas ?? 0) > 1 ? checkSharedDisks(template?.spec?.volumes, 'spec.template.spec.volumes') : []),
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

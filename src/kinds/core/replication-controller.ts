/** ReplicationController: keeps a number of pods of one template running. ReplicaSet and Deployment came after it. */
import { type FieldError, forbidden, invalid, notSupported, required } from '../../model/field-error.ts'
import { type Json, sameJson } from '../../model/json.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { beginGeneration, countGeneration } from '../generation.ts'
import { scaleOf } from '../scalable.ts'
import { keep, plainStatus } from '../spec-and-status.ts'
import { dropUnserved } from './types/pod-spec.ts'
import { podTemplateSpec } from './types/pod-template-spec.ts'
import { podWarnings } from './types/pod-warnings.ts'

const condition = s.object(
  {
    type: field(1, s.string(), { zero: 'write', published: 'required', doc: 'What is told about it.' }),
    status: field(2, s.string(), { zero: 'write', published: 'required', doc: 'True, False or Unknown.' }),
    lastTransitionTime: field(3, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason: field(4, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(5, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'ReplicationControllerCondition', doc: 'Something that is known of the state of a ReplicationController.' },
)

const spec = s.object(
  {
    replicas: field(1, s.int32(), { zero: 'keep', default: 1, doc: 'How many pods there shall be; 1 by default.' }),
    selector: field(2, s.map(s.string(), { atomic: true }), {
      doc: 'The labels of the pods that count; those of the template by default.',
    }),
    template: field(3, podTemplateSpec, { doc: 'What missing pods are made from.' }),
    minReadySeconds: field(4, s.int32(), {
      doc: 'How long a pod must have been ready, without a crash, to count as available.',
    }),
  },
  { name: 'ReplicationControllerSpec', doc: 'How many pods of which kind there shall be.' },
)

const conditions = s.list(condition, { list: 'map', keys: ['type'], patch: 'merge', mergeKey: 'type' })

const status = s.object(
  {
    replicas: field(1, s.int32(), { zero: 'write', published: 'required', doc: 'How many pods there are.' }),
    fullyLabeledReplicas: field(2, s.int32(), { doc: 'How many of them have all labels of the template.' }),
    observedGeneration: field(3, s.int64(), { doc: 'The generation that the controller has seen.' }),
    readyReplicas: field(4, s.int32(), { doc: 'How many of them are ready.' }),
    availableReplicas: field(5, s.int32(), { doc: 'How many of them have been ready for long enough.' }),
    conditions: field(6, conditions, { doc: 'What else is known of it.' }),
  },
  { name: 'ReplicationControllerStatus', doc: 'How many pods there are.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'How many pods of which kind there shall be.' }),
  status: field(3, status, { zero: 'write', doc: 'How many there are. Set by the controller.' }),
}

export type ReplicationController = ObjectOf<typeof fields>

const count = (name: string, doc: string, of: (object: ReplicationController) => number | undefined) =>
  ({
    ...column(name, doc, (object: ReplicationController) => of(object) ?? 0),
    type: 'integer',
  }) as Column<ReplicationController>

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
  rules: {
    readOnly: ['status'],
    fillDefaults: fillFromTemplate,
    prepareForCreate: (object) => {
      beginGeneration(object)
      object.status = { replicas: 0 }
      dropUnserved(object.spec?.template?.spec ?? {})
    },
    prepareForUpdate,
    validate: checkSpec,
    validateUpdate: ({ status }) => checkCounts(status ?? {}),
    warnings: ({ spec = {} }, previous, { vendor }) =>
      previous && sameJson(spec.template as Json, previous.spec?.template as Json)
        ? []
        : podWarnings(spec.template?.spec ?? {}, 'spec.template.spec', vendor),
  },
  life: {
    orphansByDefault: true,
  },
  views: {
    columns: [
      nameColumn,
      count('Desired', 'How many pods there shall be.', ({ spec }) => spec?.replicas),
      count('Current', 'How many pods there are.', ({ status }) => status?.replicas),
      count('Ready', 'How many of them are ready.', ({ status }) => status?.readyReplicas),
      ageColumn,
      column(
        'Containers',
        'The names of the containers.',
        (object: ReplicationController) => listed(object, 'name'),
        1,
      ),
      column('Images', 'The images of the containers.', (object: ReplicationController) => listed(object, 'image'), 1),
      column('Selector', 'The labels of the pods that count.', selectorOf, 1),
    ],
    selectable: ({ status }) => ({ 'status.replicas': String(status?.replicas ?? 0) }),
    subresources: { status: plainStatus, scale: scaleOf(selectorOf, prepareForUpdate) },
  },
})

/** What the template says counts where the controller itself says nothing. */
function fillFromTemplate({ metadata, spec }: ReplicationController): void {
  const labels = spec?.template?.metadata?.labels
  if (spec === undefined || labels === undefined) return
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels }
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels }
}

function prepareForUpdate(next: ReplicationController, previous: ReplicationController): void {
  keep(next, previous, 'status')
  dropUnserved(next.spec?.template?.spec ?? {})
  countGeneration(next, previous, ({ spec }) => spec)
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
    ...checkTemplate(template?.spec ?? {}),
  ]
}

/** Pods that are kept running never end by themselves. */
function checkTemplate({
  restartPolicy = 'Always',
  activeDeadlineSeconds,
}: NonNullable<Template['spec']>): FieldError[] {
  const path = 'spec.template.spec'
  return [
    ...(restartPolicy === 'Always' ? [] : [notSupported(`${path}.restartPolicy`, restartPolicy, ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [
          forbidden(`${path}.activeDeadlineSeconds`, 'activeDeadlineSeconds in ReplicationController is not Supported'),
        ]),
  ]
}

type Template = NonNullable<NonNullable<ReplicationController['spec']>['template']>

function checkCounts(status: NonNullable<ReplicationController['status']>): FieldError[] {
  const { replicas = 0, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  const tooMany = (name: string, value: number, limit: number, of: string) =>
    value > limit ? [invalid(`status.${name}`, value, `cannot be greater than ${of}`)] : []
  return [
    ...notNegative(status.replicas, 'status.replicas'),
    ...notNegative(status.fullyLabeledReplicas, 'status.fullyLabeledReplicas'),
    ...notNegative(status.readyReplicas, 'status.readyReplicas'),
    ...notNegative(status.availableReplicas, 'status.availableReplicas'),
    ...notNegative(status.observedGeneration, 'status.observedGeneration'),
    ...tooMany('fullyLabeledReplicas', fullyLabeledReplicas, replicas, 'status.replicas'),
    ...tooMany('readyReplicas', readyReplicas, replicas, 'status.replicas'),
    ...tooMany('availableReplicas', availableReplicas, replicas, 'status.replicas'),
    ...tooMany('availableReplicas', availableReplicas, readyReplicas, 'readyReplicas'),
  ]
}

function notNegative(value: number | bigint | undefined, path: string): FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(path, value, 'must be greater than or equal to 0')]
}

function listed({ spec }: ReplicationController, part: 'name' | 'image'): string {
  return (spec?.template?.spec?.containers ?? []).map((one) => one[part] ?? '').join(',')
}

function selectorOf({ spec }: ReplicationController): string {
  return Object.entries(spec?.selector ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',')
}

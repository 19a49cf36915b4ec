/** ReplicaSet: keeps a number of pods of one template running. Mostly a Deployment makes it. */
import { child, type FieldError, type FieldPath } from '../../model/field-error.ts'
import { ageColumn, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionsOf } from '../conditions.ts'
import { dropUnserved } from '../core/types/pod-spec.ts'
import { podTemplateSpec } from '../core/types/pod-template-spec.ts'
import { noneNegative, notAbove, partsOfReplicas } from '../counts.ts'
import { isNewGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { selectorText } from '../meta/selecting.ts'
import {
  checkRunsForever,
  checkSelected,
  checkSharedDisks,
  containerColumns,
  countColumn,
  selectorColumn,
  templateUnjudged,
  templateWarnings,
} from '../pod-templates.ts'
import { scaleOf } from '../scalable.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'

const specFields = {
  replicas: field(1, s.int32(), { zero: 'keep', default: 1, doc: 'The desired number of pods; 1 by default.' }),
  minReadySeconds: field(4, s.int32(), {
    doc: 'How long a pod must have been ready, without a crash, to count as available.',
  }),
  selector: field(2, labelSelector, { required: true, doc: 'Which pods count. It cannot change.' }),
  template: field(3, podTemplateSpec, { zero: 'write', doc: 'What missing pods are made from.' }),
}

const spec = s.object(specFields, {
  name: 'ReplicaSetSpec',
  doc: 'The desired pods.',
  leavesUnjudged: templateUnjudged,
})

const statusFields = {
  replicas: field(1, s.int32(), { zero: 'write', published: 'required', doc: 'How many pods there are.' }),
  fullyLabeledReplicas: field(2, s.int32(), { doc: 'How many of them have all labels of the template.' }),
  readyReplicas: field(4, s.int32(), { doc: 'How many of them are ready.' }),
  availableReplicas: field(5, s.int32(), { doc: 'How many of them have been ready for long enough.' }),
  observedGeneration: field(3, s.int64(), { doc: 'The generation that the controller has seen.' }),
  conditions: field(6, conditionsOf('ReplicaSetCondition', 'ReplicaSet'), { doc: 'What else is known of it.' }),
}

const status = s.object(statusFields, { name: 'ReplicaSetStatus', doc: 'How many pods there are.' })

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The desired pods.' }),
  status: field(3, status, { zero: 'write', doc: 'How many there are. Set by the controller.' }),
}

export type ReplicaSet = ObjectOf<typeof fields>

const rules = specAndStatus<ReplicaSet>({
  generation: ({ spec }) => spec,
  newStatus: () => ({ replicas: 0 }),
  prepareForCreate: ({ spec }, context) => dropUnserved(spec?.template?.spec, 'spec.template.spec', context),
  prepareForUpdate: ({ spec }, _, context) => dropUnserved(spec?.template?.spec, 'spec.template.spec', context),
  validate: ({ spec = {} }) => checkSpec(spec, 'spec'),
  validateUpdate: checkUpdate,
  warnings: (object, previous, { vendor }) =>
    isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, { path: 'spec.template', vendor }) : [],
})

export const replicaSet = defineKind({
  names: {
    group: 'apps',
    version: 'v1',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'Keeps a number of pods of one template running.',
  fields,
  rules,
  views: {
    columns: [
      nameColumn,
      countColumn('Desired', 'The desired number of pods.', ({ spec }: ReplicaSet) => spec?.replicas),
      countColumn('Current', 'How many pods there are.', ({ status }: ReplicaSet) => status?.replicas),
      countColumn('Ready', 'How many of them are ready.', ({ status }: ReplicaSet) => status?.readyReplicas),
      ageColumn,
      ...containerColumns(({ spec }: ReplicaSet) => spec?.template),
      selectorColumn(({ spec }: ReplicaSet) => spec?.selector),
    ],
    subresources: {
      status: plainStatus,
      scale: scaleOf(({ spec }: ReplicaSet) => selectorText(spec?.selector), rules.prepareForUpdate),
    },
  },
})

function checkSpec(spec: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const { replicas = 0, template } = spec
  const podPath = child(path, 'template.spec')
  return [
    ...noneNegative(spec, ['replicas', 'minReadySeconds'], path),
    ...checkSelected(spec, path, 'ReplicaSet'),
    ...(templateUnjudged(spec).length > 0
      ? []
      : [
          ...checkRunsForever(template?.spec, podPath, 'ReplicaSet'),
          ...(replicas > 1 ? checkSharedDisks(template?.spec?.volumes, child(podPath, 'volumes')) : []),
        ]),
  ]
}

function checkUpdate(next: ReplicaSet, previous: ReplicaSet, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'status') return checkStatus(next.status ?? {})
  return immutableField('spec.selector', next.spec?.selector, previous.spec?.selector)
}

const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const

function checkStatus(status: InferFields<typeof statusFields>): FieldError[] {
  const { readyReplicas, availableReplicas } = status
  return [
    ...noneNegative(status, ['replicas', ...parts, 'observedGeneration'], 'status'),
    ...partsOfReplicas(status, parts),
    ...notAbove(availableReplicas, readyReplicas, { path: 'status.availableReplicas', of: 'readyReplicas' }),
  ]
}

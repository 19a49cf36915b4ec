/** A ReplicaSet runs a number of identical pods. A ReplicaSet usually belongs to a Deployment. */
import { child, type FieldError, type FieldPath } from '../../model/field-error.ts'
import { ageColumn, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionsOf } from '../conditions.ts'
import { resetGated } from '../core/types/gated-parts.ts'
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
  nameWarnings,
  selectorColumn,
  templateUnjudged,
  templateWarnings,
} from '../pod-templates.ts'
import { scaleOf } from '../scalable.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'

const specFields = {
  replicas: field(1, s.int32(), { zeroValue: 'keep', default: 1, doc: 'Desired number of pods. Defaults to 1.' }),
  minReadySeconds: field(4, s.int32(), {
    doc: 'Number of seconds that a new pod must be ready without a container crashing before the pod counts as available. Defaults to 0.',
  }),
  selector: field(2, labelSelector, {
    required: true,
    doc: 'Label selector for the pods of the ReplicaSet. Must match the labels of the template. Immutable.',
  }),
  template: field(3, podTemplateSpec, {
    zeroValue: 'write',
    doc: 'Template for the pods that the ReplicaSet creates. Changes do not affect existing pods.',
  }),
}

const spec = s.object(specFields, {
  name: 'ReplicaSetSpec',
  doc: 'Specification of a ReplicaSet.',
  fieldsToSkip: templateUnjudged,
})

const statusFields = {
  replicas: field(1, s.int32(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Number of pods in the ReplicaSet.',
  }),
  fullyLabeledReplicas: field(2, s.int32(), { doc: 'Number of pods that have all the labels of the template.' }),
  readyReplicas: field(4, s.int32(), { doc: 'Number of ready pods.' }),
  availableReplicas: field(5, s.int32(), {
    doc: 'Number of pods that have been ready for at least `minReadySeconds`.',
  }),
  observedGeneration: field(3, s.int64(), { doc: 'Most recent generation that the controller has observed.' }),
  conditions: field(6, conditionsOf('ReplicaSetCondition', 'ReplicaSet'), {
    doc: 'Current conditions of the ReplicaSet, one per type.',
  }),
  terminatingReplicas: field(7, s.int32(), {
    zeroValue: 'keep',
    since: '1.33',
    gate: 'DeploymentReplicaSetTerminatingReplicas',
    doc: "Number of the ReplicaSet's pods that are terminating.",
  }),
}

const status = s.object(statusFields, { name: 'ReplicaSetStatus', doc: 'Observed status of a ReplicaSet.' })

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired state of the ReplicaSet.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the ReplicaSet, set by the controller.' }),
}

export type ReplicaSet = ObjectOf<typeof fields>

const rules = specAndStatus<ReplicaSet>({
  generation: ({ spec }) => spec,
  newStatus: () => ({ replicas: 0 }),
  prepareForCreate: ({ spec }, context) => resetGated({ spec: spec?.template?.spec }, 'spec.template.spec', context),
  prepareForUpdate: ({ spec }, previous, context) =>
    resetGated({ spec: spec?.template?.spec, previous: previous.spec?.template?.spec }, 'spec.template.spec', context),
  validate: ({ spec = {} }, context) => checkSpec(spec, 'spec', context),
  validateUpdate: checkUpdate,
  warnings: (object, previous, context) => [
    ...nameWarnings(object.metadata, previous, context),
    ...(isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, 'spec.template', context) : []),
  ],
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
  doc: 'A workload that maintains a given number of identical pods.',
  fields,
  rules,
  views: {
    columns: [
      nameColumn,
      countColumn('Desired', 'Desired number of pods.', ({ spec }: ReplicaSet) => spec?.replicas),
      countColumn('Current', 'Number of existing pods.', ({ status }: ReplicaSet) => status?.replicas),
      countColumn('Ready', 'Number of ready pods.', ({ status }: ReplicaSet) => status?.readyReplicas),
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

function checkSpec(spec: InferFields<typeof specFields>, path: FieldPath, context: RuleContext): FieldError[] {
  const { replicas = 0, template } = spec
  const podPath = child(path, 'template.spec')
  return [
    ...noneNegative(spec, ['replicas', 'minReadySeconds'], path),
    ...checkSelected(spec, path, 'ReplicaSet'),
    ...(templateUnjudged(spec).length > 0
      ? []
      : [
          ...checkRunsForever(template?.spec, podPath, 'ReplicaSet'),
          ...(replicas > 1 ? checkSharedDisks(template?.spec?.volumes, child(podPath, 'volumes'), context) : []),
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
    ...noneNegative(status, ['replicas', ...parts, 'terminatingReplicas', 'observedGeneration'], 'status'),
    ...partsOfReplicas(status, parts),
    ...notAbove(availableReplicas, readyReplicas, { path: 'status.availableReplicas', of: 'readyReplicas' }),
  ]
}

/**
 * StatefulSet: runs pods with an identity, each with a name and volumes of its own that outlive it.
 *
 * The pods of the template are completed when they are made: their mounts may name claims of the set. So the template
 * is not judged here beyond its labels and annotations; a pod that cannot be is refused when it is made.
 */

import { type Json, sameJson } from '../../json/json.ts'
import { child, type FieldError, type FieldPath, forbidden, invalid } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext, RuleContext } from '../../schema/context.ts'
import { dropGated } from '../../schema/gated-fields.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionsOf } from '../conditions.ts'
import { claimTemplate } from '../core/types/claim-template.ts'
import { dropUnserved } from '../core/types/pod-spec.ts'
import { unjudgedTemplateSpec } from '../core/types/pod-template-spec.ts'
import { noneNegative, notAbove, notLess, notNegative, partsOfReplicas } from '../counts.ts'
import { isNewGeneration } from '../generation.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { selectorText } from '../meta/selecting.ts'
import {
  checkRunsForever,
  checkSelected,
  containerColumns,
  templateUnjudged,
  templateWarnings,
} from '../pod-templates.ts'
import { scaleOf } from '../scalable.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'

const rollingUpdate = s.object(
  {
    partition: field(1, s.int32(), {
      zero: 'keep',
      doc: 'Only pods whose number is at least this are replaced; 0 by default, which is all.',
    }),
  },
  { name: 'RollingUpdateStatefulSetStrategy', doc: 'Which pods are replaced.' },
)

const strategyFields = {
  type: field(1, s.string(), { doc: 'RollingUpdate, which is the default, or OnDelete.' }),
  rollingUpdate: field(2, rollingUpdate, { doc: 'Which pods are replaced; for RollingUpdate alone.' }),
}

const strategy = s.object(strategyFields, {
  name: 'StatefulSetUpdateStrategy',
  doc: 'How pods are replaced by new ones: by the controller, or when someone deletes them.',
  fill: (value) => {
    if (!value.type) {
      value.type = 'RollingUpdate'
      value.rollingUpdate ??= {}
    }
    if (value.type === 'RollingUpdate' && value.rollingUpdate) value.rollingUpdate.partition ??= 0
  },
  check: checkStrategy,
})

const retentionPolicy = s.object(
  {
    whenDeleted: field(1, s.string(), { doc: 'Retain or Delete, when the set is deleted.' }),
    whenScaled: field(2, s.string(), { doc: 'Retain or Delete, when it is scaled down.' }),
  },
  {
    name: 'StatefulSetPersistentVolumeClaimRetentionPolicy',
    doc: 'What becomes of the claims of pods that are gone.',
  },
)

const specFields = {
  replicas: field(1, s.int32(), { zero: 'keep', default: 1, doc: 'The desired number of pods; 1 by default.' }),
  selector: field(2, labelSelector, { required: true, doc: 'Which pods count. It cannot change.' }),
  template: field(3, unjudgedTemplateSpec, {
    zero: 'write',
    published: 'required',
    doc: 'What pods are made from, each with a name and claims of its own.',
  }),
  volumeClaimTemplates: field(4, s.list(claimTemplate), {
    doc: 'Claims that each pod gets, named after it. Mounts of the template may name them.',
  }),
  serviceName: field(5, s.string(), {
    zero: 'write',
    doc: 'The Service by which the pods get DNS names: pod.serviceName.namespace.',
  }),
  podManagementPolicy: field(6, s.string(), {
    default: 'OrderedReady',
    doc: 'Whether pods are made and ended one after the other (OrderedReady, the default) or all at once (Parallel).',
  }),
  updateStrategy: field(7, strategy, { zero: 'write', doc: 'How pods are replaced when the template changes.' }),
  revisionHistoryLimit: field(8, s.int32(), {
    zero: 'keep',
    default: 10,
    doc: 'How many old templates are kept to go back to.',
  }),
  minReadySeconds: field(9, s.int32(), {
    doc: 'How long a pod must have been ready, without a crash, to count as available.',
  }),
  persistentVolumeClaimRetentionPolicy: field(10, retentionPolicy, {
    doc: 'What becomes of the claims of pods that are gone. Not offered yet: it is left out.',
  }),
}

const spec = s.object(specFields, {
  name: 'StatefulSetSpec',
  doc: 'The desired pods.',
  leavesUnjudged: templateUnjudged,
})

const statusFields = {
  observedGeneration: field(1, s.int64(), { doc: 'The generation that the controller has seen.' }),
  replicas: field(2, s.int32(), { zero: 'write', published: 'required', doc: 'How many pods there are.' }),
  readyReplicas: field(3, s.int32(), { doc: 'How many of them are ready.' }),
  currentReplicas: field(4, s.int32(), { doc: 'How many of them are of currentRevision.' }),
  updatedReplicas: field(5, s.int32(), { doc: 'How many of them are of updateRevision.' }),
  currentRevision: field(6, s.string(), { doc: 'The ControllerRevision that pods are of which are not replaced yet.' }),
  updateRevision: field(7, s.string(), { doc: 'The ControllerRevision of the present template.' }),
  collisionCount: field(9, s.int32(), {
    zero: 'keep',
    doc: 'How often a name for a ControllerRevision was taken. It only grows.',
  }),
  conditions: field(10, conditionsOf('StatefulSetCondition', 'StatefulSet'), { doc: 'What else is known of it.' }),
  availableReplicas: field(11, s.int32(), {
    zero: 'write',
    published: 'optional',
    doc: 'How many of them have been ready for long enough.',
  }),
}

const status = s.object(statusFields, { name: 'StatefulSetStatus', doc: 'Which pods there are.' })

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The desired pods.' }),
  status: field(3, status, { zero: 'write', doc: 'Which there are. Set by the controller.' }),
}

export type StatefulSet = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>
type Status = InferFields<typeof statusFields>

const rules = specAndStatus<StatefulSet>({
  generation: ({ spec }) => spec,
  newStatus: () => ({ replicas: 0, availableReplicas: 0 }),
  prepareForCreate: ({ spec }, context) => dropUnoffered(spec, context),
  prepareForUpdate: ({ spec }, _, context) => dropUnoffered(spec, context),
  validate: ({ spec = {} }) => checkSpec(spec, 'spec'),
  validateUpdate: checkUpdate,
  warnings: (object, previous, { vendor }) =>
    isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, { path: 'spec.template', vendor }) : [],
})

export const statefulSet = defineKind({
  names: {
    group: 'apps',
    version: 'v1',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'Runs pods with an identity, each with a name and volumes of its own that outlive it.',
  fields,
  rules,
  views: {
    columns: [
      nameColumn,
      column('Ready', 'How many pods are ready, of how many.', ({ spec, status }: StatefulSet) => {
        return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`
      }),
      ageColumn,
      ...containerColumns(({ spec }: StatefulSet) => spec?.template),
    ],
    subresources: {
      status: plainStatus,
      scale: scaleOf(({ spec }: StatefulSet) => selectorText(spec?.selector), rules.prepareForUpdate),
    },
  },
})

function dropUnoffered(spec: Spec = {}, context: PrepareContext): void {
  const { onDropped } = context
  const feature = 'StatefulSetAutoDeletePVC'
  dropGated(spec, 'persistentVolumeClaimRetentionPolicy', { path: 'spec', feature, onDropped })
  dropUnserved(spec.template?.spec, 'spec.template.spec', context)
}

function checkSpec(spec: Spec, path: FieldPath): FieldError[] {
  return [
    ...checkManagement(spec.podManagementPolicy, child(path, 'podManagementPolicy')),
    ...noneNegative(spec, ['replicas', 'minReadySeconds'], path),
    ...checkSelected(spec, path, 'StatefulSet'),
    ...checkRunsForever(spec.template?.spec, child(path, 'template.spec'), 'StatefulSet'),
  ]
}

function checkManagement(policy: string | undefined, path: FieldPath): FieldError[] {
  if (policy === 'OrderedReady' || policy === 'Parallel') return []
  return [invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")]
}

function checkStrategy(value: InferFields<typeof strategyFields>, path: FieldPath): FieldError[] {
  const { type, rollingUpdate: rolling } = value
  const place = child(path, 'rollingUpdate')
  if (type === 'RollingUpdate') return notNegative(rolling?.partition, child(place, 'partition'))
  if (type !== 'OnDelete') return [invalid(path, value, "must be 'RollingUpdate' or 'OnDelete'")]
  return rolling === undefined ? [] : [invalid(place, rolling, "only allowed for updateStrategy 'RollingUpdate'")]
}

function checkUpdate(next: StatefulSet, previous: StatefulSet, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'status') return checkStatus(next.status ?? {}, previous.status ?? {})
  if (sameJson(fixedPart(next), fixedPart(previous))) return []
  const mayChange =
    "'replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'"
  return [forbidden('spec', `updates to statefulset spec for fields other than ${mayChange} are forbidden`)]
}

/** What is there for good: the pods that there are could not follow a change. */
function fixedPart({ spec = {} }: StatefulSet): Json {
  const { replicas: _r, template: _t, updateStrategy: _u, minReadySeconds: _m, ...fixed } = spec
  return fixed as Json
}

const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const

function checkStatus(status: Status, previous: Status): FieldError[] {
  const { readyReplicas, availableReplicas } = status
  return [
    ...noneNegative(status, ['replicas', ...parts, 'observedGeneration', 'collisionCount'], 'status'),
    ...partsOfReplicas(status, parts),
    ...notAbove(availableReplicas, readyReplicas, { path: 'status.availableReplicas', of: 'status.readyReplicas' }),
    ...notLess(status.collisionCount, previous.collisionCount, 'status.collisionCount'),
  ]
}

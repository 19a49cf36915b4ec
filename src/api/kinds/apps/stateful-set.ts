/**
 * A StatefulSet runs pods with stable identities. A replaced pod keeps its name and its volumes.
 *
 * Volume mounts in the pod template may refer to the set's volume claim templates, so the template is complete only
 * when the controller creates a pod. Before 1.34, validation therefore covers only the labels, the annotations and a
 * few fields of the template. Later versions validate the completed template (`types/stateful-template.ts`).
 */

import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { type Json, sameJson } from '../../json/json.ts'
import { child, type FieldError, type FieldPath, forbidden, invalid, notSupported } from '../../model/field-error.ts'
import { checkDnsLabel } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { type Availability, exists, isAvailable } from '../../versions/availability.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { conditionsOf } from '../conditions.ts'
import { claimTemplate } from '../core/types/claim-template.ts'
import { resetGated } from '../core/types/gated-parts.ts'
import { unvalidatedTemplateSpec } from '../core/types/pod-template-spec.ts'
import {
  checkIntOrPercent,
  checkNotAboveAll,
  isNone,
  noneNegative,
  notAbove,
  notLess,
  notNegative,
  partsOfReplicas,
} from '../counts.ts'
import { isNewGeneration } from '../generation.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { selectorText } from '../meta/selecting.ts'
import {
  checkRunsForever,
  checkSelected,
  containerColumns,
  nameWarnings,
  templateUnjudged,
  templateWarnings,
} from '../pod-templates.ts'
import { scaleOf } from '../scalable.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { checkCompleteTemplate } from './types/stateful-template.ts'

const rollingUpdateFields = {
  partition: field(1, s.int32(), {
    zeroValue: 'keep',
    doc: 'Lowest ordinal to update. Pods with lower ordinals are not updated. Defaults to 0.',
  }),
  maxUnavailable: field(2, s.intOrString(), {
    zeroValue: 'keep',
    since: '1.24',
    gate: 'MaxUnavailableStatefulSet',
    doc: 'Number or percentage of pods that may be unavailable during the update. Defaults to 1.',
  }),
}

const rollingUpdate = s.object(rollingUpdateFields, {
  name: 'RollingUpdateStatefulSetStrategy',
  doc: 'Settings for rolling updates of a StatefulSet.',
})

const strategyFields = {
  type: field(1, s.string({ listed: ['OnDelete', 'RollingUpdate'] }), {
    doc: 'How to replace old pods: `RollingUpdate` replaces them automatically, and `OnDelete` replaces them only when they are deleted. Defaults to `RollingUpdate`.',
  }),
  rollingUpdate: field(2, rollingUpdate, { doc: 'Settings for rolling updates. Forbidden if the type is `OnDelete`.' }),
}

const strategy = s.object(strategyFields, {
  name: 'StatefulSetUpdateStrategy',
  doc: 'How to replace old pods: automatically (`RollingUpdate`), or only when a user deletes them (`OnDelete`).',
  fill: (value, context) => {
    if (!value.type) {
      value.type = 'RollingUpdate'
      value.rollingUpdate ??= {}
    }
    if (value.type !== 'RollingUpdate' || value.rollingUpdate === undefined) return
    value.rollingUpdate.partition ??= 0
    if (isAvailable(rollingUpdateFields.maxUnavailable, emulationOf(context))) value.rollingUpdate.maxUnavailable ??= 1
  },
  check: checkStrategy,
})

const retentionFields = {
  whenDeleted: field(1, s.string(), {
    doc: 'What to do with the PersistentVolumeClaims when the StatefulSet is deleted: `Retain` (the default) or `Delete`.',
  }),
  whenScaled: field(2, s.string(), {
    doc: 'What to do with the PersistentVolumeClaims of removed pods when the StatefulSet is scaled down: `Retain` (the default) or `Delete`.',
  }),
}

const retentionPolicy = s.object(retentionFields, {
  name: 'StatefulSetPersistentVolumeClaimRetentionPolicy',
  doc: 'What to do with PersistentVolumeClaims whose pods no longer exist.',
  fill: (value) => {
    value.whenDeleted ||= 'Retain'
    value.whenScaled ||= 'Retain'
  },
  check: checkRetention,
})

const ordinals = s.object(
  {
    start: field(1, s.int32(), {
      zeroValue: 'write',
      published: 'optional',
      doc: 'Ordinal of the first pod. Defaults to 0.',
    }),
  },
  {
    name: 'StatefulSetOrdinals',
    doc: 'How the pods of a StatefulSet are numbered.',
    check: ({ start }, path) => notNegative(start, child(path, 'start')),
  },
)

const specFields = {
  replicas: field(1, s.int32(), { zeroValue: 'keep', default: 1, doc: 'Desired number of pods. Defaults to 1.' }),
  selector: field(2, labelSelector, {
    required: true,
    doc: 'Label selector for the pods of the StatefulSet. Must match the labels of the template. Immutable.',
  }),
  template: field(3, unvalidatedTemplateSpec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Template for the pods. Each pod additionally gets a unique name and its own volume claims.',
  }),
  volumeClaimTemplates: field(4, s.list(claimTemplate), {
    doc: 'Templates for the PersistentVolumeClaims to create for each pod. Volume mounts refer to them by name. Immutable.',
  }),
  serviceName: field(5, s.string(), {
    optionalSince: '1.33',
    zeroValue: 'write',
    doc: 'Name of the Service that provides DNS names of the form `<pod>.<service>.<namespace>` for the pods. Immutable.',
  }),
  podManagementPolicy: field(6, s.string({ listed: ['OrderedReady', 'Parallel'] }), {
    default: 'OrderedReady',
    doc: 'Whether pods are created and deleted one at a time (`OrderedReady`, the default) or concurrently (`Parallel`). Immutable.',
  }),
  updateStrategy: field(7, strategy, {
    zeroValue: 'write',
    doc: 'How to replace the pods after their template changes.',
  }),
  revisionHistoryLimit: field(8, s.int32(), {
    zeroValue: 'keep',
    default: 10,
    doc: 'Number of old ControllerRevisions to keep for rollback. Defaults to 10. Immutable before version 1.33.',
  }),
  minReadySeconds: field(9, s.int32(), {
    doc: 'Number of seconds that a new pod must be ready without a container crashing before the pod counts as available. Defaults to 0.',
  }),
  persistentVolumeClaimRetentionPolicy: field(10, retentionPolicy, {
    gate: 'StatefulSetAutoDeletePVC',
    doc: 'What to do with PersistentVolumeClaims whose pods no longer exist. Requires the StatefulSetAutoDeletePVC feature gate.',
  }),
  ordinals: field(11, ordinals, {
    since: '1.26',
    gate: 'StatefulSetStartOrdinal',
    doc: 'How the pods are numbered. By default, ordinals start at 0.',
  }),
}

const spec = s.object(specFields, {
  name: 'StatefulSetSpec',
  doc: 'Specification of a StatefulSet.',
  fill: (value, context) => {
    if (isAvailable(specFields.persistentVolumeClaimRetentionPolicy, emulationOf(context)))
      value.persistentVolumeClaimRetentionPolicy ??= {}
  },
  fieldsToSkip: templateUnjudged,
})

const statusFields = {
  observedGeneration: field(1, s.int64(), { doc: 'Most recent generation that the controller has observed.' }),
  replicas: field(2, s.int32(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Number of pods in the StatefulSet.',
  }),
  readyReplicas: field(3, s.int32(), { doc: 'Number of ready pods.' }),
  currentReplicas: field(4, s.int32(), { doc: 'Number of pods that run the revision in `currentRevision`.' }),
  updatedReplicas: field(5, s.int32(), { doc: 'Number of pods that run the revision in `updateRevision`.' }),
  currentRevision: field(6, s.string(), {
    doc: 'Name of the ControllerRevision of the pods that have not been updated yet.',
  }),
  updateRevision: field(7, s.string(), { doc: 'Name of the ControllerRevision of the current template.' }),
  collisionCount: field(9, s.int32(), {
    zeroValue: 'keep',
    doc: 'Number of times that the name of a new ControllerRevision collided with an existing name. Never decreases.',
  }),
  conditions: field(10, conditionsOf('StatefulSetCondition', 'StatefulSet'), {
    doc: 'Current conditions of the StatefulSet, one per type.',
  }),
  availableReplicas: field(11, s.int32(), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Number of pods that have been ready for at least `minReadySeconds`.',
  }),
}

const status = s.object(statusFields, { name: 'StatefulSetStatus', doc: 'Observed status of a StatefulSet.' })

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired state of the StatefulSet.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the StatefulSet, set by the controller.' }),
}

export type StatefulSet = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>
type Status = InferFields<typeof statusFields>

const rules = specAndStatus<StatefulSet>({
  generation: ({ spec }) => spec,
  newStatus: () => ({ replicas: 0, availableReplicas: 0 }),
  prepareForCreate: ({ spec }, context) => resetGated({ spec: spec?.template?.spec }, 'spec.template.spec', context),
  prepareForUpdate: ({ spec }, previous, context) =>
    resetGated({ spec: spec?.template?.spec, previous: previous.spec?.template?.spec }, 'spec.template.spec', context),
  validate: ({ spec = {} }) => checkSpec(spec, 'spec'),
  validateCreate: checkCreate,
  validateUpdate: checkUpdate,
  warnings: (object, previous, context) => [
    ...nameWarnings(object.metadata, previous, context),
    ...historyWarnings(object, context),
    ...(isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, 'spec.template', context) : []),
  ],
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
  doc: 'A workload of pods with stable identities. A replacement pod has the same name and volumes as the pod that it replaces.',
  fields,
  rules,
  views: {
    columns: [
      nameColumn,
      column('Ready', 'Number of ready pods and desired number of pods.', ({ spec, status }: StatefulSet) => {
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
  if (type === 'RollingUpdate') return checkRollingUpdate(rolling ?? {}, place)
  if (type !== 'OnDelete') return [invalid(path, value, "must be 'RollingUpdate' or 'OnDelete'")]
  return rolling === undefined ? [] : [invalid(place, rolling, "only allowed for updateStrategy 'RollingUpdate'")]
}

function checkRollingUpdate(
  { partition, maxUnavailable }: InferFields<typeof rollingUpdateFields>,
  path: FieldPath,
): FieldError[] {
  const place = child(path, 'maxUnavailable')
  return [
    ...notNegative(partition, child(path, 'partition')),
    ...(maxUnavailable === undefined
      ? []
      : [
          ...checkIntOrPercent(maxUnavailable, place),
          ...(isNone(maxUnavailable) ? [invalid(place, maxUnavailable, 'cannot be 0')] : []),
          ...checkNotAboveAll(maxUnavailable, place),
        ]),
  ]
}

const retentions = ['Retain', 'Delete']

function checkRetention(value: InferFields<typeof retentionFields>, path: FieldPath): FieldError[] {
  return (['whenDeleted', 'whenScaled'] as const).flatMap((name) => {
    const { [name]: policy = '' } = value
    return retentions.includes(policy) ? [] : [notSupported(child(path, name), policy, retentions)]
  })
}

/** Returns a warning if `revisionHistoryLimit` is negative, because a negative limit keeps all revisions. */
function historyWarnings({ spec = {} }: StatefulSet, context: RuleContext): string[] {
  if ((spec.revisionHistoryLimit ?? 0) >= 0 || !isAtLeast(emulationOf(context).version, '1.33')) return []
  return ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
}

/** The first Kubernetes version that validates the Service name, the claims and the completed template. */
const completeRulesSince = '1.34'

function* checkCreate({ metadata, spec = {} }: StatefulSet, context: RuleContext): Sliced<FieldError[]> {
  const { version } = emulationOf(context)
  const { name = '' } = metadata
  const errors = isAtLeast(version, '1.27') ? checkDnsLabel(name).map((why) => invalid('metadata.name', name, why)) : []
  if (!isAtLeast(version, completeRulesSince)) return errors
  const { serviceName = '' } = spec
  const serviceFaults = serviceName === '' ? [] : checkDnsLabel(serviceName)
  return [
    ...errors,
    ...serviceFaults.map((why) => invalid('spec.serviceName', serviceName, why)),
    ...(yield* checkCompleteTemplate(spec, { isNew: true }, context)),
  ]
}

function* checkUpdate(next: StatefulSet, previous: StatefulSet, context: RuleContext): Sliced<FieldError[]> {
  if (context.subresource === 'status') return checkStatus(next.status ?? {}, previous.status ?? {})
  const errors = checkMutable(next, previous, context)
  const { spec = {} } = next
  const changes = !sameJson(spec.template, previous.spec?.template)
  if (!changes || !isAtLeast(emulationOf(context).version, completeRulesSince)) return errors
  return [...errors, ...(yield* checkCompleteTemplate(spec, { isNew: false }, context))]
}

function checkMutable(next: StatefulSet, previous: StatefulSet, context: RuleContext): FieldError[] {
  const mutable = mutableFields.filter((field) => exists(field, emulationOf(context).version)).map(({ name }) => name)
  if (sameJson(fixedPart(next, mutable), fixedPart(previous, mutable))) return []
  const names = mutable.map((name) => `'${name}'`).join(', ')
  return [forbidden('spec', `updates to statefulset spec for fields other than ${names} are forbidden`)]
}

interface MutableField extends Availability {
  readonly name: keyof Spec
}

/**
 * Fields of a StatefulSet's spec that may change. All others are immutable, because existing pods could not adapt to a
 * change.
 */
const mutableFields: readonly MutableField[] = [
  { name: 'replicas' },
  { name: 'ordinals' },
  { name: 'template' },
  { name: 'updateStrategy' },
  { name: 'revisionHistoryLimit', since: '1.33' },
  { name: 'persistentVolumeClaimRetentionPolicy' },
  { name: 'minReadySeconds' },
]

function fixedPart({ spec = {} }: StatefulSet, mutable: readonly string[]): Json {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !mutable.includes(name))) as Json
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

/** A Deployment runs a number of identical pods and replaces them gradually when their template changes. */
import { child, type FieldError, type FieldPath, forbidden, invalid, notSupported } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionFields } from '../conditions.ts'
import { resetGated } from '../core/types/gated-parts.ts'
import { podTemplateSpec } from '../core/types/pod-template-spec.ts'
import {
  checkIntOrPercent,
  checkNotAboveAll,
  isNone,
  noneNegative,
  notAbove,
  notLess,
  partsOfReplicas,
} from '../counts.ts'
import { isNewGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { byType } from '../list-keys.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { selectorText } from '../meta/selecting.ts'
import {
  checkRunsForever,
  checkSelected,
  checkSharedDisks,
  containerColumns,
  nameWarnings,
  selectorColumn,
  templateUnjudged,
  templateWarnings,
} from '../pod-templates.ts'
import { scaleOf } from '../scalable.ts'
import { keep, specAndStatus } from '../spec-and-status.ts'
import { readInt64 } from './annotated-number.ts'

const rollingUpdateFields = {
  maxUnavailable: field(1, s.intOrString(), {
    zeroValue: 'keep',
    default: '25%',
    doc: 'Maximum number or percentage of pods that may be unavailable during an update. Percentages are rounded down. Defaults to 25%.',
  }),
  maxSurge: field(2, s.intOrString(), {
    zeroValue: 'keep',
    default: '25%',
    doc: 'Maximum number or percentage of pods that an update may create above the desired number. Percentages are rounded up. Defaults to 25%.',
  }),
}

const rollingUpdate = s.object(rollingUpdateFields, {
  name: 'RollingUpdateDeployment',
  doc: 'Limits how many pods a rolling update replaces at a time.',
  check: checkRollingUpdate,
})

const strategyFields = {
  type: field(1, s.string({ listed: ['Recreate', 'RollingUpdate'] }), {
    doc: 'How to replace old pods: `RollingUpdate` replaces them gradually, and `Recreate` deletes all of them before creating new pods. Defaults to `RollingUpdate`.',
  }),
  rollingUpdate: field(2, rollingUpdate, { doc: 'Settings for rolling updates. Forbidden if the type is `Recreate`.' }),
}

const strategy = s.object(strategyFields, {
  name: 'DeploymentStrategy',
  doc: 'How to replace old pods with new ones.',
  fill: (value) => {
    value.type ||= 'RollingUpdate'
    if (value.type === 'RollingUpdate') value.rollingUpdate ??= {}
  },
  fieldsToSkip: ({ type }) => (type === 'RollingUpdate' ? [] : ['rollingUpdate']),
  check: checkStrategy,
})

const specFields = {
  replicas: field(1, s.int32(), { zeroValue: 'keep', default: 1, doc: 'Desired number of pods. Defaults to 1.' }),
  selector: field(2, labelSelector, {
    required: true,
    doc: 'Label selector for the pods of the Deployment. Must match the labels of the template. Immutable.',
  }),
  template: field(3, podTemplateSpec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Template for the pods that the Deployment creates.',
  }),
  strategy: field(4, strategy, {
    zeroValue: 'write',
    patch: 'retainKeys',
    doc: 'How to replace old pods with new ones.',
  }),
  minReadySeconds: field(5, s.int32(), {
    doc: 'Number of seconds that a new pod must be ready without a container crashing before the pod counts as available. Defaults to 0.',
  }),
  revisionHistoryLimit: field(6, s.int32(), {
    zeroValue: 'keep',
    default: 10,
    doc: 'Number of old ReplicaSets to keep for rollback. Defaults to 10.',
  }),
  paused: field(7, s.boolean(), {
    doc: 'Whether the rollout is paused. Changes to the template take effect only after the rollout is resumed.',
  }),
  progressDeadlineSeconds: field(9, s.int32(), {
    zeroValue: 'keep',
    default: 600,
    doc: 'Number of seconds without progress after which a rollout is considered failed. Must be greater than `minReadySeconds`. Defaults to 600.',
  }),
}

const spec = s.object(specFields, {
  name: 'DeploymentSpec',
  doc: 'Specification of a Deployment.',
  fieldsToSkip: templateUnjudged,
})

const { type, status: isTrue, reason, message } = conditionFields

const condition = s.object(
  {
    type,
    status: isTrue,
    lastUpdateTime: field(6, s.time(), { zeroValue: 'write', doc: 'Time when the condition was last updated.' }),
    lastTransitionTime: field(7, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the status of the condition last changed.',
    }),
    reason,
    message,
  },
  { name: 'DeploymentCondition', doc: 'A condition of a Deployment.' },
)

const statusFields = {
  observedGeneration: field(1, s.int64(), { doc: 'Most recent generation that the controller has observed.' }),
  replicas: field(2, s.int32(), { doc: "Number of the Deployment's pods that have not terminated." }),
  updatedReplicas: field(3, s.int32(), { doc: 'Number of pods that match the current template.' }),
  readyReplicas: field(7, s.int32(), { doc: 'Number of ready pods.' }),
  availableReplicas: field(4, s.int32(), {
    doc: 'Number of pods that have been ready for at least `minReadySeconds`.',
  }),
  unavailableReplicas: field(5, s.int32(), { doc: 'Number of desired pods that are missing or not yet available.' }),
  conditions: field(6, s.list(condition, byType), { doc: 'Current conditions of the Deployment, one per type.' }),
  collisionCount: field(8, s.int32(), {
    zeroValue: 'keep',
    doc: 'Number of times that the name of a new ReplicaSet collided with an existing name. Never decreases.',
  }),
  terminatingReplicas: field(9, s.int32(), {
    zeroValue: 'keep',
    since: '1.33',
    gate: 'DeploymentReplicaSetTerminatingReplicas',
    doc: "Number of the Deployment's pods that are terminating.",
  }),
}

const status = s.object(statusFields, { name: 'DeploymentStatus', doc: 'Observed status of a Deployment.' })

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired state of the Deployment.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the Deployment, set by the controller.' }),
}

export type Deployment = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>
type Status = InferFields<typeof statusFields>

const rules = specAndStatus<Deployment>({
  fillDefaults: fillRollback,
  // A change to the annotations increments the generation, because the controller copies the annotations to its
  // ReplicaSets.
  generation: ({ spec, metadata }) => [spec, metadata.annotations ?? {}],
  newStatus: () => ({}),
  prepareForCreate: ({ spec }, context) => resetGated({ spec: spec?.template?.spec }, 'spec.template.spec', context),
  prepareForUpdate: ({ spec }, previous, context) =>
    resetGated({ spec: spec?.template?.spec, previous: previous.spec?.template?.spec }, 'spec.template.spec', context),
  validate: (object, context) => [...checkRollback(object), ...checkSpec(object.spec ?? {}, 'spec', context)],
  validateUpdate: checkUpdate,
  warnings: (object, previous, context) => [
    ...nameWarnings(object.metadata, previous, context),
    ...(isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, 'spec.template', context) : []),
  ],
})

export const deployment = defineKind({
  names: {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'A workload of identical pods that are replaced gradually when the pod template changes.',
  fields,
  rules,
  views: {
    columns: [
      nameColumn,
      column('Ready', 'Number of ready pods and desired number of pods.', ({ spec, status }: Deployment) => {
        return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`
      }),
      column('Up-to-date', 'Number of pods that match the current template.', ({ status }: Deployment) => {
        return status?.updatedReplicas ?? 0
      }),
      column('Available', 'Number of available pods.', ({ status }: Deployment) => {
        return status?.availableReplicas ?? 0
      }),
      ageColumn,
      ...containerColumns(({ spec }: Deployment) => spec?.template),
      selectorColumn(({ spec }: Deployment) => spec?.selector),
    ],
    subresources: {
      status: {
        verbs: ['get', 'update', 'patch'],
        readOnly: ['spec', 'metadata.labels'],
        prepareForUpdate: keepLabels,
      },
      scale: scaleOf(({ spec }: Deployment) => selectorText(spec?.selector), rules.prepareForUpdate),
    },
  },
})

/** Restores the spec, the labels and the rollback annotation, because a status update must not change them. */
function keepLabels(next: Deployment, previous: Deployment): void {
  keep(next, previous, 'spec')
  const { labels } = previous.metadata
  const { labels: _, ...metadata } = next.metadata
  next.metadata = labels === undefined ? metadata : { ...metadata, labels }
  setRollback(next, previous.metadata.annotations?.[rollbackKey])
}

/** The annotation that replaces `spec.rollbackTo.revision` of older API versions. */
const rollbackKey = 'deprecated.deployment.rollback.to'

function fillRollback(object: Deployment): void {
  const text = object.metadata.annotations?.[rollbackKey]
  if (text !== undefined) setRollback(object, text === '' ? undefined : String(readInt64(text, rollbackKey)))
}

function setRollback(object: Deployment, version: string | undefined): void {
  const { annotations, ...metadata } = object.metadata
  if (annotations?.[rollbackKey] === version) return
  const { [rollbackKey]: _, ...others } = annotations ?? {}
  const next = version === undefined ? others : { ...others, [rollbackKey]: version }
  object.metadata = Object.keys(next).length === 0 ? metadata : { ...metadata, annotations: next }
}

function checkRollback({ metadata }: Deployment): FieldError[] {
  const version = metadata.annotations?.[rollbackKey]
  if (!version?.startsWith('-')) return []
  return [invalid('spec.rollback.version', Number(version), 'must be greater than or equal to 0')]
}

function checkSpec(spec: Spec, path: FieldPath, context: RuleContext): FieldError[] {
  const { replicas = 0, minReadySeconds = 0, progressDeadlineSeconds: deadline, template } = spec
  const podPath = child(path, 'template.spec')
  return [
    ...noneNegative(spec, ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'], path),
    ...checkSelected(spec, path, 'Deployment'),
    ...(templateUnjudged(spec).length > 0
      ? []
      : [
          ...checkRunsForever(template?.spec, podPath, 'ReplicaSet'),
          ...(replicas > 1 ? checkSharedDisks(template?.spec?.volumes, child(podPath, 'volumes'), context) : []),
        ]),
    ...(deadline !== undefined && deadline <= minReadySeconds
      ? [invalid(child(path, 'progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds')]
      : []),
  ]
}

function checkStrategy(value: InferFields<typeof strategyFields>, path: FieldPath): FieldError[] {
  if (value.type === 'RollingUpdate') return []
  if (value.type !== 'Recreate') return [notSupported(path, value, ['Recreate', 'RollingUpdate'])]
  if (value.rollingUpdate === undefined) return []
  return [forbidden(child(path, 'rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'")]
}

function checkRollingUpdate(value: InferFields<typeof rollingUpdateFields>, path: FieldPath): FieldError[] {
  const { maxUnavailable = 0, maxSurge = 0 } = value
  const place = child(path, 'maxUnavailable')
  return [
    ...checkIntOrPercent(maxUnavailable, place),
    ...checkIntOrPercent(maxSurge, child(path, 'maxSurge')),
    ...(isNone(maxUnavailable) && isNone(maxSurge)
      ? [invalid(place, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...checkNotAboveAll(maxUnavailable, place),
  ]
}

function checkUpdate(next: Deployment, previous: Deployment, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'status') return checkStatus(next.status ?? {}, previous.status ?? {})
  return immutableField('spec.selector', next.spec?.selector, previous.spec?.selector)
}

const counts = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'] as const

function checkStatus(status: Status, previous: Status): FieldError[] {
  const { readyReplicas, availableReplicas } = status
  return [
    ...noneNegative(status, [...counts, 'terminatingReplicas', 'observedGeneration', 'collisionCount'], 'status'),
    ...partsOfReplicas(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
    ...notAbove(availableReplicas, readyReplicas, { path: 'status.availableReplicas', of: 'readyReplicas' }),
    ...notLess(status.collisionCount, previous.collisionCount, 'status.collisionCount'),
  ]
}

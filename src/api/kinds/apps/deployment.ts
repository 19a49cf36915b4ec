/** Deployment: keeps a number of pods of one template running, and replaces them step by step when it changes. */
import { child, type FieldError, type FieldPath, forbidden, invalid, notSupported } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionFields } from '../conditions.ts'
import { dropUnserved } from '../core/types/pod-spec.ts'
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
  selectorColumn,
  templateUnjudged,
  templateWarnings,
} from '../pod-templates.ts'
import { scaleOf } from '../scalable.ts'
import { keep, specAndStatus } from '../spec-and-status.ts'
import { readInt64 } from './annotated-number.ts'

const rollingUpdateFields = {
  maxUnavailable: field(1, s.intOrString(), {
    zero: 'keep',
    default: '25%',
    doc: 'How many of the replicas may be missing meanwhile: a number or a percentage.',
  }),
  maxSurge: field(2, s.intOrString(), {
    zero: 'keep',
    default: '25%',
    doc: 'How many more than the replicas there may be meanwhile: a number or a percentage.',
  }),
}

const rollingUpdate = s.object(rollingUpdateFields, {
  name: 'RollingUpdateDeployment',
  doc: 'How fast pods are replaced.',
  check: checkRollingUpdate,
})

const strategyFields = {
  type: field(1, s.string(), { doc: 'RollingUpdate, which is the default, or Recreate.' }),
  rollingUpdate: field(2, rollingUpdate, { doc: 'How fast; for RollingUpdate alone.' }),
}

const strategy = s.object(strategyFields, {
  name: 'DeploymentStrategy',
  doc: 'How pods are replaced by new ones.',
  fill: (value) => {
    value.type ||= 'RollingUpdate'
    if (value.type === 'RollingUpdate') value.rollingUpdate ??= {}
  },
  leavesUnjudged: ({ type }) => (type === 'RollingUpdate' ? [] : ['rollingUpdate']),
  check: checkStrategy,
})

const specFields = {
  replicas: field(1, s.int32(), { zero: 'keep', default: 1, doc: 'The desired number of pods; 1 by default.' }),
  selector: field(2, labelSelector, { required: true, doc: 'Which pods count. It cannot change.' }),
  template: field(3, podTemplateSpec, { zero: 'write', published: 'required', doc: 'What pods are made from.' }),
  strategy: field(4, strategy, { zero: 'write', patch: 'retainKeys', doc: 'How pods are replaced by new ones.' }),
  minReadySeconds: field(5, s.int32(), {
    doc: 'How long a pod must have been ready, without a crash, to count as available.',
  }),
  revisionHistoryLimit: field(6, s.int32(), {
    zero: 'keep',
    default: 10,
    doc: 'How many old templates are kept to go back to.',
  }),
  paused: field(7, s.boolean(), { doc: 'Whether changes of the template wait.' }),
  progressDeadlineSeconds: field(9, s.int32(), {
    zero: 'keep',
    default: 600,
    doc: 'How long it may stand still before it counts as failed.',
  }),
}

const spec = s.object(specFields, {
  name: 'DeploymentSpec',
  doc: 'The desired pods, and how they are replaced.',
  leavesUnjudged: templateUnjudged,
})

const { type, status: isTrue, reason, message } = conditionFields

const condition = s.object(
  {
    type,
    status: isTrue,
    lastUpdateTime: field(6, s.time(), { zero: 'write', doc: 'When it was last looked at.' }),
    lastTransitionTime: field(7, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason,
    message,
  },
  { name: 'DeploymentCondition', doc: 'Something that is known of the state of a Deployment.' },
)

const statusFields = {
  observedGeneration: field(1, s.int64(), { doc: 'The generation that the controller has seen.' }),
  replicas: field(2, s.int32(), { doc: 'How many pods there are.' }),
  updatedReplicas: field(3, s.int32(), { doc: 'How many of them are of the present template.' }),
  readyReplicas: field(7, s.int32(), { doc: 'How many of them are ready.' }),
  availableReplicas: field(4, s.int32(), { doc: 'How many of them have been ready for long enough.' }),
  unavailableReplicas: field(5, s.int32(), { doc: 'How many are still missing.' }),
  conditions: field(6, s.list(condition, byType), { doc: 'What else is known of it.' }),
  collisionCount: field(8, s.int32(), {
    zero: 'keep',
    doc: 'How often a name for a ReplicaSet was taken. It only grows.',
  }),
}

const status = s.object(statusFields, { name: 'DeploymentStatus', doc: 'How many pods there are.' })

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The desired pods.' }),
  status: field(3, status, { zero: 'write', doc: 'How many there are. Set by the controller.' }),
}

export type Deployment = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>
type Status = InferFields<typeof statusFields>

const rules = specAndStatus<Deployment>({
  fillDefaults: fillRollback,
  // Annotations count too: they are copied to what the Deployment makes.
  generation: ({ spec, metadata }) => [spec, metadata.annotations ?? {}],
  newStatus: () => ({}),
  prepareForCreate: ({ spec }, context) => dropUnserved(spec?.template?.spec, 'spec.template.spec', context),
  prepareForUpdate: ({ spec }, _, context) => dropUnserved(spec?.template?.spec, 'spec.template.spec', context),
  validate: (object) => [...checkRollback(object), ...checkSpec(object.spec ?? {}, 'spec')],
  validateUpdate: checkUpdate,
  warnings: (object, previous, { vendor }) =>
    isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, { path: 'spec.template', vendor }) : [],
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
  doc: 'Keeps a number of pods of one template running, and replaces them step by step when it changes.',
  fields,
  rules,
  views: {
    columns: [
      nameColumn,
      column('Ready', 'How many pods are ready, of how many.', ({ spec, status }: Deployment) => {
        return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`
      }),
      column('Up-to-date', 'How many pods are of the present template.', ({ status }: Deployment) => {
        return status?.updatedReplicas ?? 0
      }),
      column('Available', 'How many pods have been ready for long enough.', ({ status }: Deployment) => {
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

/** A write of the status does not change the labels, nor the version to go back to. */
function keepLabels(next: Deployment, previous: Deployment): void {
  keep(next, previous, 'spec')
  const { labels } = previous.metadata
  const { labels: _, ...metadata } = next.metadata
  next.metadata = labels === undefined ? metadata : { ...metadata, labels }
  setRollback(next, previous.metadata.annotations?.[rollbackKey])
}

/** What an older version had in its spec; whoever still reads it finds it in an annotation. */
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

function checkSpec(spec: Spec, path: FieldPath): FieldError[] {
  const { replicas = 0, minReadySeconds = 0, progressDeadlineSeconds: deadline, template } = spec
  const podPath = child(path, 'template.spec')
  return [
    ...noneNegative(spec, ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'], path),
    ...checkSelected(spec, path, 'Deployment'),
    ...(templateUnjudged(spec).length > 0
      ? []
      : [
          ...checkRunsForever(template?.spec, podPath, 'ReplicaSet'),
          ...(replicas > 1 ? checkSharedDisks(template?.spec?.volumes, child(podPath, 'volumes')) : []),
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
    ...noneNegative(status, [...counts, 'observedGeneration', 'collisionCount'], 'status'),
    ...partsOfReplicas(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
    ...notAbove(availableReplicas, readyReplicas, { path: 'status.availableReplicas', of: 'readyReplicas' }),
    ...notLess(status.collisionCount, previous.collisionCount, 'status.collisionCount'),
  ]
}

/** A DaemonSet runs one pod on every eligible node. */

import { keysOf, sameJson } from '../../json/json.ts'
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext, RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionsOf } from '../conditions.ts'
import { resetGated } from '../core/types/gated-parts.ts'
import { podTemplateSpec } from '../core/types/pod-template-spec.ts'
import { checkIntOrPercent, checkNotAboveAll, isNone, noneNegative, notLess } from '../counts.ts'
import { immutableField } from '../immutable.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { selectorText } from '../meta/selecting.ts'
import {
  checkMatches,
  checkNotEmpty,
  checkRunsForever,
  checkSharedDisks,
  containerColumns,
  countColumn,
  selectorColumn,
  templateWarnings,
} from '../pod-templates.ts'
import { keep, specAndStatus } from '../spec-and-status.ts'
import { readInt64 } from './annotated-number.ts'

const rollingUpdateFields = {
  maxUnavailable: field(1, s.intOrString(), {
    zeroValue: 'keep',
    doc: 'Maximum number or percentage of nodes that may lack an available daemon pod during an update. Defaults to 1.',
  }),
  maxSurge: field(2, s.intOrString(), {
    zeroValue: 'keep',
    doc: 'Maximum number or percentage of nodes that may run both an old and a new daemon pod during an update. Defaults to 0.',
  }),
}

const rollingUpdate = s.object(rollingUpdateFields, {
  name: 'RollingUpdateDaemonSet',
  doc: 'Limits how many nodes a rolling update affects at a time. Exactly one of `maxUnavailable` and `maxSurge` must be nonzero.',
})

const strategyFields = {
  type: field(1, s.string({ listed: ['OnDelete', 'RollingUpdate'] }), {
    doc: 'How to replace old pods: `RollingUpdate` replaces them automatically, and `OnDelete` replaces them only when they are deleted. Defaults to `RollingUpdate`.',
  }),
  rollingUpdate: field(2, rollingUpdate, { doc: 'Settings for rolling updates. Ignored if the type is `OnDelete`.' }),
}

const strategy = s.object(strategyFields, {
  name: 'DaemonSetUpdateStrategy',
  doc: 'How to replace old pods: automatically (`RollingUpdate`), or only when a user deletes them (`OnDelete`).',
  fill: fillStrategy,
  check: checkStrategy,
})

const specFields = {
  selector: field(1, labelSelector, {
    published: 'required',
    doc: 'Label selector for the pods of the DaemonSet. Must match the labels of the template. Immutable.',
  }),
  template: field(2, podTemplateSpec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Template for the daemon pods. Its node selector, affinity and tolerations determine which nodes are eligible.',
  }),
  updateStrategy: field(3, strategy, {
    zeroValue: 'write',
    doc: 'How to replace the daemon pods after their template changes.',
  }),
  minReadySeconds: field(4, s.int32(), {
    doc: 'Number of seconds that a new pod must be ready without a container crashing before the pod counts as available. Defaults to 0.',
  }),
  revisionHistoryLimit: field(6, s.int32(), {
    zeroValue: 'keep',
    default: 10,
    doc: 'Number of old ControllerRevisions to keep for rollback. Defaults to 10.',
  }),
}

const spec = s.object(specFields, { name: 'DaemonSetSpec', doc: 'Specification of a DaemonSet.' })

const number = (tag: number, doc: string) => field(tag, s.int32(), { zeroValue: 'write', published: 'required', doc })

const statusFields = {
  currentNumberScheduled: number(1, 'Number of eligible nodes that run a daemon pod.'),
  numberMisscheduled: number(2, 'Number of nodes that run a daemon pod but are not eligible to run one.'),
  desiredNumberScheduled: number(3, 'Number of nodes that should run a daemon pod.'),
  numberReady: number(4, 'Number of eligible nodes that have a ready daemon pod.'),
  observedGeneration: field(5, s.int64(), { doc: 'Most recent generation that the controller has observed.' }),
  updatedNumberScheduled: field(6, s.int32(), {
    doc: 'Number of eligible nodes that run a daemon pod from the current template.',
  }),
  numberAvailable: field(7, s.int32(), {
    doc: 'Number of eligible nodes whose daemon pod has been ready for at least `minReadySeconds`.',
  }),
  numberUnavailable: field(8, s.int32(), { doc: 'Number of eligible nodes that lack an available daemon pod.' }),
  collisionCount: field(9, s.int32(), {
    zeroValue: 'keep',
    doc: 'Number of times that the name of a new ControllerRevision collided with an existing name. Never decreases.',
  }),
  conditions: field(10, conditionsOf('DaemonSetCondition', 'DaemonSet'), {
    doc: 'Current conditions of the DaemonSet, one per type.',
  }),
}

const status = s.object(statusFields, { name: 'DaemonSetStatus', doc: 'Observed status of a DaemonSet.' })

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired state of the DaemonSet.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the DaemonSet, set by the controller.' }),
}

/**
 * The annotation that replaces `spec.templateGeneration` of older API versions. The server increments its value
 * whenever the template changes.
 */
const generationKey = 'deprecated.daemonset.template.generation'

export type DaemonSet = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>
type Status = InferFields<typeof statusFields>

export const daemonSet = defineKind({
  names: {
    group: 'apps',
    version: 'v1',
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'A workload that runs one pod on every eligible node.',
  fields,
  rules: specAndStatus<DaemonSet>({
    generation: ({ spec }) => spec,
    newStatus: () => ({ currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }),
    fillDefaults: (object) => setTemplateGeneration(object, templateGeneration(object)),
    prepareForCreate: (object, context) => {
      const { metadata } = object
      object.metadata = { ...metadata, annotations: { ...metadata.annotations } }
      const generation = templateGeneration(object)
      setTemplateGeneration(object, generation < 1n ? 1n : generation)
      resetGated({ spec: object.spec?.template?.spec }, 'spec.template.spec', context)
    },
    prepareForUpdate,
    validate: ({ spec = {} }, context) => checkSpec(spec, 'spec', context),
    validateUpdate: checkUpdate,
    warnings: ({ spec }, previous, context) =>
      sameJson(spec?.template, previous?.spec?.template)
        ? []
        : templateWarnings(spec?.template, 'spec.template', context),
  }),
  views: {
    rowsWithout: [generationKey],
    columns: [
      nameColumn,
      countColumn('Desired', 'Number of nodes that should run a daemon pod.', countOf('desiredNumberScheduled')),
      countColumn('Current', 'Number of eligible nodes that run a daemon pod.', countOf('currentNumberScheduled')),
      countColumn('Ready', 'Number of eligible nodes that have a ready daemon pod.', countOf('numberReady')),
      countColumn(
        'Up-to-date',
        'Number of eligible nodes that run a daemon pod from the current template.',
        countOf('updatedNumberScheduled'),
      ),
      countColumn(
        'Available',
        'Number of eligible nodes that have an available daemon pod.',
        countOf('numberAvailable'),
      ),
      column('Node Selector', 'Labels that a node must have to run a daemon pod.', ({ spec }: DaemonSet) => {
        return selectorText({ matchLabels: spec?.template?.spec?.nodeSelector ?? {} }) || '<none>'
      }),
      ageColumn,
      ...containerColumns(({ spec }: DaemonSet) => spec?.template),
      selectorColumn(({ spec }: DaemonSet) => spec?.selector),
    ],
    subresources: {
      status: {
        verbs: ['get', 'update', 'patch'],
        readOnly: ['spec'],
        prepareForUpdate: (next, previous) => {
          keep(next, previous, 'spec')
          setTemplateGeneration(next, templateGeneration(previous))
        },
      },
    },
  },
})

function templateGeneration({ metadata }: DaemonSet): bigint {
  return readInt64(metadata.annotations?.[generationKey] ?? '0', generationKey)
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: bigint): void {
  metadata.annotations = { ...metadata.annotations, [generationKey]: String(generation) }
}

function prepareForUpdate(next: DaemonSet, previous: DaemonSet, context: PrepareContext): void {
  resetGated(
    { spec: next.spec?.template?.spec, previous: previous.spec?.template?.spec },
    'spec.template.spec',
    context,
  )
  const sameTemplate = sameJson(next.spec?.template, previous.spec?.template)
  setTemplateGeneration(next, templateGeneration(previous) + (sameTemplate ? 0n : 1n))
}

/** Sets defaults in the update strategy. For OnDelete, unset limits of `rollingUpdate` default to 0. */
function fillStrategy(value: InferFields<typeof strategyFields>): void {
  value.type ||= 'RollingUpdate'
  const rolls = value.type === 'RollingUpdate'
  if (rolls) value.rollingUpdate ??= {}
  if (value.rollingUpdate === undefined) return
  value.rollingUpdate.maxUnavailable ??= rolls ? 1 : 0
  value.rollingUpdate.maxSurge ??= 0
}

function checkSpec(spec: Spec, path: FieldPath, context: RuleContext): FieldError[] {
  const podPath = child(path, 'template.spec')
  const { template } = spec
  return [
    ...checkNotEmpty(spec.selector, child(path, 'selector'), 'DaemonSet'),
    ...checkMatches(spec, path),
    ...checkSharedDisks(template?.spec?.volumes, child(podPath, 'volumes'), context),
    ...checkRunsForever(template?.spec, podPath, 'DaemonSet'),
    ...noneNegative(spec, ['minReadySeconds', 'revisionHistoryLimit'], path),
  ]
}

function checkStrategy(value: InferFields<typeof strategyFields>, path: FieldPath): FieldError[] {
  if (value.type === 'OnDelete') return []
  if (value.type !== 'RollingUpdate') return [notSupported(path, value, ['RollingUpdate', 'OnDelete'])]
  return checkRollingUpdate(value.rollingUpdate ?? {}, child(path, 'rollingUpdate'))
}

function checkRollingUpdate(value: InferFields<typeof rollingUpdateFields>, path: FieldPath): FieldError[] {
  const { maxUnavailable = 0, maxSurge = 0 } = value
  const missing = child(path, 'maxUnavailable')
  const twice = child(path, 'maxSurge')
  return [
    ...checkIntOrPercent(maxUnavailable, missing),
    ...checkIntOrPercent(maxSurge, twice),
    ...checkNotAboveAll(maxUnavailable, missing),
    ...checkNotAboveAll(maxSurge, twice),
    ...(isNone(maxUnavailable) && isNone(maxSurge) ? [required(missing, 'cannot be 0 when maxSurge is 0')] : []),
    ...(!isNone(maxUnavailable) && !isNone(maxSurge)
      ? [invalid(twice, maxSurge, 'may not be set when maxUnavailable is non-zero')]
      : []),
  ]
}

function checkUpdate(next: DaemonSet, previous: DaemonSet, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'status') return checkStatus(next.status ?? {}, previous.status ?? {})
  return immutableField('spec.selector', next.spec?.selector, previous.spec?.selector)
}

function checkStatus(status: Status, previous: Status): FieldError[] {
  const { conditions: _, ...counts } = status
  return [
    ...noneNegative(counts, keysOf(counts), 'status'),
    ...notLess(status.collisionCount, previous.collisionCount, 'status.collisionCount'),
  ]
}

function countOf(name: Exclude<keyof Status, 'conditions'>) {
  return ({ status }: DaemonSet) => status?.[name]
}

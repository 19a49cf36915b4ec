/** DaemonSet: runs one pod of a template on every node that fits. */

import { keysOf, sameJson } from '../../json/json.ts'
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext, RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionsOf } from '../conditions.ts'
import { dropUnserved } from '../core/types/pod-spec.ts'
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
    zero: 'keep',
    doc: 'On how many nodes the pod may be missing meanwhile: a number, 1 by default, or a percentage.',
  }),
  maxSurge: field(2, s.intOrString(), {
    zero: 'keep',
    doc: 'On how many nodes two pods may run meanwhile: a number, 0 by default, or a percentage.',
  }),
}

const rollingUpdate = s.object(rollingUpdateFields, {
  name: 'RollingUpdateDaemonSet',
  doc: 'How fast pods are replaced: pods are missing meanwhile, or there are two.',
})

const strategyFields = {
  type: field(1, s.string(), { doc: 'RollingUpdate, which is the default, or OnDelete.' }),
  rollingUpdate: field(2, rollingUpdate, { doc: 'How fast; for RollingUpdate alone.' }),
}

const strategy = s.object(strategyFields, {
  name: 'DaemonSetUpdateStrategy',
  doc: 'How pods are replaced by new ones: by the controller, or when someone deletes them.',
  fill: fillStrategy,
  check: checkStrategy,
})

const specFields = {
  selector: field(1, labelSelector, { published: 'required', doc: 'Which pods count. It cannot change.' }),
  template: field(2, podTemplateSpec, { zero: 'write', published: 'required', doc: 'What pods are made from.' }),
  updateStrategy: field(3, strategy, { zero: 'write', doc: 'How pods are replaced when the template changes.' }),
  minReadySeconds: field(4, s.int32(), {
    doc: 'How long a pod must have been ready, without a crash, to count as available.',
  }),
  revisionHistoryLimit: field(6, s.int32(), {
    zero: 'keep',
    default: 10,
    doc: 'How many old templates are kept to go back to.',
  }),
}

const spec = s.object(specFields, { name: 'DaemonSetSpec', doc: 'Which pods run on which nodes.' })

const number = (tag: number, doc: string) => field(tag, s.int32(), { zero: 'write', published: 'required', doc })

const statusFields = {
  currentNumberScheduled: number(1, 'On how many nodes it runs that it shall run on.'),
  numberMisscheduled: number(2, 'On how many nodes it runs that it shall not run on.'),
  desiredNumberScheduled: number(3, 'On how many nodes it shall run.'),
  numberReady: number(4, 'On how many of these its pod is ready.'),
  observedGeneration: field(5, s.int64(), { doc: 'The generation that the controller has seen.' }),
  updatedNumberScheduled: field(6, s.int32(), { doc: 'On how many of these its pod is of the present template.' }),
  numberAvailable: field(7, s.int32(), { doc: 'On how many of these its pod has been ready for long enough.' }),
  numberUnavailable: field(8, s.int32(), { doc: 'On how many of these it has not.' }),
  collisionCount: field(9, s.int32(), {
    zero: 'keep',
    doc: 'How often a name for a ControllerRevision was taken. It only grows.',
  }),
  conditions: field(10, conditionsOf('DaemonSetCondition', 'DaemonSet'), { doc: 'What else is known of it.' }),
}

const status = s.object(statusFields, { name: 'DaemonSetStatus', doc: 'On how many nodes it runs.' })

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'Which pods run on which nodes.' }),
  status: field(3, status, { zero: 'write', doc: 'On how many nodes they run. Set by the controller.' }),
}

/** An older count of the changes of the template, which clients find in an annotation. The server counts. */
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
  doc: 'Runs one pod of a template on every node that fits.',
  fields,
  rules: specAndStatus<DaemonSet>({
    generation: ({ spec }) => spec,
    newStatus: () => ({ currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }),
    fillDefaults: (object) => setTemplateGeneration(object, templateGeneration(object)),
    prepareForCreate: (object, context) => {
      const { metadata } = object
      object.metadata = { ...metadata, annotations: { ...metadata.annotations } }
      const given = templateGeneration(object)
      setTemplateGeneration(object, given < 1n ? 1n : given)
      dropUnserved(object.spec?.template?.spec, 'spec.template.spec', context)
    },
    prepareForUpdate,
    validate: ({ spec = {} }) => checkSpec(spec, 'spec'),
    validateUpdate: checkUpdate,
    warnings: ({ spec }, previous, { vendor }) =>
      sameJson(spec?.template, previous?.spec?.template)
        ? []
        : templateWarnings(spec?.template, { path: 'spec.template', vendor }),
  }),
  views: {
    rowsWithout: [generationKey],
    columns: [
      nameColumn,
      countColumn('Desired', 'On how many nodes it shall run.', countOf('desiredNumberScheduled')),
      countColumn('Current', 'On how many of these it runs.', countOf('currentNumberScheduled')),
      countColumn('Ready', 'On how many of these it is ready.', countOf('numberReady')),
      countColumn(
        'Up-to-date',
        'On how many of these it is of the present template.',
        countOf('updatedNumberScheduled'),
      ),
      countColumn('Available', 'On how many of these it has been ready for long enough.', countOf('numberAvailable')),
      column('Node Selector', 'The labels that its nodes must have.', ({ spec }: DaemonSet) => {
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
  dropUnserved(next.spec?.template?.spec, 'spec.template.spec', context)
  const sameTemplate = sameJson(next.spec?.template, previous.spec?.template)
  setTemplateGeneration(next, templateGeneration(previous) + (sameTemplate ? 0n : 1n))
}

/** Where nothing is rolled out, what is unset is none. */
function fillStrategy(value: InferFields<typeof strategyFields>): void {
  value.type ||= 'RollingUpdate'
  const rolls = value.type === 'RollingUpdate'
  if (rolls) value.rollingUpdate ??= {}
  if (value.rollingUpdate === undefined) return
  value.rollingUpdate.maxUnavailable ??= rolls ? 1 : 0
  value.rollingUpdate.maxSurge ??= 0
}

function checkSpec(spec: Spec, path: FieldPath): FieldError[] {
  const podPath = child(path, 'template.spec')
  const { template } = spec
  return [
    ...checkNotEmpty(spec.selector, child(path, 'selector'), 'DaemonSet'),
    ...checkMatches(spec, path),
    ...checkSharedDisks(template?.spec?.volumes, child(podPath, 'volumes')),
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

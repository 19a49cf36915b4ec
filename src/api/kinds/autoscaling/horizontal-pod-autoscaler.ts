/**
 * HorizontalPodAutoscaler: keeps the number of replicas of something between two limits, so that metrics stay near
 * their targets. This is v2, the version that is stored; its rules are those of all versions.
 */

import { at, child, type FieldError, type FieldPath, invalid } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext } from '../../schema/context.ts'
import { dropGated } from '../../schema/gated-fields.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { notNegative } from '../counts.ts'
import { byType } from '../list-keys.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { behavior } from './behavior.ts'
import { dropCarried } from './carried.ts'
import {
  checkScaleToZero,
  fillAskedValue,
  fillSeenValues,
  type MetricSpec,
  metricSpec,
  metricStatus,
} from './metrics.ts'
import { objectReference } from './object-reference.ts'
import { describeTargets } from './targets-column.ts'

export const replicaFields = {
  minReplicas: field(2, s.int32(), { zero: 'keep', default: 1, doc: 'The fewest replicas.' }),
  maxReplicas: field(3, s.int32(), { zero: 'write', doc: 'The most replicas; not below minReplicas.' }),
}

const specFields = {
  scaleTargetRef: field(1, objectReference, { zero: 'write', published: 'required', doc: 'What is scaled.' }),
  ...replicaFields,
  metrics: field(4, s.list(metricSpec), {
    doc: 'The metrics to scale by; the one that requires the most replicas counts. By default 80 percent of the requested CPU.',
  }),
  behavior: field(5, behavior, { doc: 'How fast it scales.' }),
}

export const spec = s.object(specFields, {
  name: 'HorizontalPodAutoscalerSpec',
  doc: 'What is scaled, within which limits and by which metrics.',
  fill: (value) => fillMetrics(value),
  check: checkSpec,
})

export const condition = s.object(
  {
    type: field(1, s.string(), { zero: 'write', doc: 'AbleToScale, ScalingActive, ScalingLimited or another.' }),
    status: field(2, s.string(), { zero: 'write', doc: 'True, False or Unknown.' }),
    lastTransitionTime: field(3, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason: field(4, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(5, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'HorizontalPodAutoscalerCondition', doc: 'Something that is known of how scaling goes.' },
)

const conditions = s.list(condition, byType)

export const observedFields = {
  observedGeneration: field(1, s.int64(), { zero: 'keep', doc: 'The generation of the object that it was seen at.' }),
  lastScaleTime: field(2, s.time(), { doc: 'When the number of replicas was last changed.' }),
}

const statusFields = {
  ...observedFields,
  currentReplicas: field(3, s.int32(), { doc: 'How many replicas there are.' }),
  desiredReplicas: field(4, s.int32(), { zero: 'write', doc: 'How many there should be.' }),
  currentMetrics: field(5, s.list(metricStatus), { doc: 'What was last seen of each metric.' }),
  conditions: field(6, conditions, { doc: 'How scaling goes.' }),
}

const status = s.object(statusFields, { name: 'HorizontalPodAutoscalerStatus', doc: 'What it saw and did last.' })

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'What is scaled, and by what.' }),
  status: field(3, status, { zero: 'write', doc: 'What it saw and did last. Set by the server.' }),
}

export type HorizontalPodAutoscaler = ObjectOf<typeof fields>
export type Status = InferFields<typeof statusFields>
export type Spec = InferFields<typeof specFields>

export const horizontalPodAutoscaler = defineKind({
  names: {
    group: 'autoscaling',
    version: 'v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    shortNames: ['hpa'],
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'Keeps the number of replicas of something between two limits, so that metrics stay near their targets.',
  fields,
  rules: specAndStatus<HorizontalPodAutoscaler>({
    // What other versions carry in annotations has fields of its own here.
    fillDefaults: ({ metadata }, { vendor }) => dropCarried(metadata, vendor),
    newStatus: () => ({ desiredReplicas: 0 }),
    prepareForCreate: ({ spec }, context) => dropContainerSources(spec, context),
    prepareForUpdate: (next, previous, context) => {
      if (!usesContainers(previous.spec)) dropContainerSources(next.spec, context)
    },
    validateUpdate: ({ status = {} }, _, { subresource }) => (subresource === 'status' ? checkStatus(status) : []),
    canonicalize: ({ spec, status }) => {
      if (spec?.metrics !== undefined) orderMetrics(spec)
      spec?.metrics?.forEach(fillAskedValue)
      status?.currentMetrics?.forEach(fillSeenValues)
    },
  }),
  views: {
    columns: [
      nameColumn,
      column('Reference', 'What is scaled.', ({ spec }: HorizontalPodAutoscaler) => {
        const { kind = '', name = '' } = spec?.scaleTargetRef ?? {}
        return `${kind}/${name}`
      }),
      column('Targets', 'Where each metric is and where it should be.', ({ spec, status }: HorizontalPodAutoscaler) =>
        describeTargets(spec?.metrics ?? [], status?.currentMetrics ?? []),
      ),
      column('MinPods', 'The fewest replicas.', ({ spec }: HorizontalPodAutoscaler) =>
        String(spec?.minReplicas ?? '<unset>'),
      ),
      column('MaxPods', 'The most replicas.', ({ spec }: HorizontalPodAutoscaler) => spec?.maxReplicas ?? 0),
      column('Replicas', 'How many there are.', ({ status }: HorizontalPodAutoscaler) => status?.currentReplicas ?? 0),
      ageColumn,
    ],
    subresources: {
      status: plainStatus,
    },
  },
})

/** An autoscaler without metrics scales by CPU utilization. */
function fillMetrics(spec: Spec): void {
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuMetric(80)]
}

/**
 * Moves CPU targets to the end, where v1 has them: v1 has a field for one, and lists the other metrics before it. This
 * happens after validation, so that an error names the index that the client sent.
 */
function orderMetrics(spec: Spec): void {
  const { metrics = [] } = spec
  spec.metrics = [...metrics.filter((metric) => !isCpuTarget(metric)), ...metrics.filter(isCpuTarget)]
}

/** The one metric that v1 has a field for. */
export function isCpuTarget({ type, resource }: MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined
}

export function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }
}

/** Metrics of single containers are not offered yet; an object that has some keeps them. */
function dropContainerSources({ metrics = [] }: Spec = {}, { onDropped }: PrepareContext): void {
  for (const [i, metric] of metrics.entries())
    dropGated(metric, 'containerResource', { path: at('spec.metrics', i), feature: 'HPAContainerMetrics', onDropped })
}

function usesContainers({ metrics = [] }: Spec = {}): boolean {
  return metrics.some(({ containerResource }) => containerResource !== undefined)
}

function checkSpec({ minReplicas, maxReplicas = 0, metrics = [] }: Spec, path: FieldPath): FieldError[] {
  const maxPath = child(path, 'maxReplicas')
  return [
    ...(minReplicas !== undefined && minReplicas < 1
      ? [invalid(child(path, 'minReplicas'), minReplicas, 'must be greater than or equal to 1')]
      : []),
    ...(maxReplicas < 1 ? [invalid(maxPath, maxReplicas, 'must be greater than 0')] : []),
    ...(minReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid(maxPath, maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : []),
    ...checkScaleToZero(metrics, minReplicas, child(path, 'metrics')),
  ]
}

function checkStatus({ currentReplicas = 0, desiredReplicas = 0 }: Status): FieldError[] {
  return [
    ...notNegative(currentReplicas, 'status.currentReplicas'),
    ...notNegative(desiredReplicas, 'status.desiredReplicas'),
  ]
}

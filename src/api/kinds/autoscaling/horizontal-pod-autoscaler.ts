/**
 * A HorizontalPodAutoscaler adjusts the number of replicas of an object, within limits, to keep metrics close to their
 * targets. This file defines v2, the storage version, and the validation of all versions.
 */

import { child, type FieldError, type FieldPath, invalid, required } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { isEnabled, isSince, type RuleContext } from '../../schema/context.ts'
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
import { describeNamedTarget, describeTarget, describeTargets, type TargetText } from './targets-column.ts'

export const replicaFields = {
  minReplicas: field(2, s.int32(), {
    zeroValue: 'keep',
    default: 1,
    doc: 'Minimum number of replicas. Defaults to 1.',
  }),
  maxReplicas: field(3, s.int32(), {
    zeroValue: 'write',
    doc: 'Maximum number of replicas. Must be at least minReplicas.',
  }),
}

const specFields = {
  scaleTargetRef: field(1, objectReference, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Object to scale. It must support the scale subresource.',
  }),
  ...replicaFields,
  metrics: field(4, s.list(metricSpec), {
    doc: 'Metrics to scale by. The metric that requires the most replicas determines the number of replicas. Defaults to a CPU utilization of 80%.',
  }),
  behavior: field(5, behavior, {
    doc: 'Rules for scaling up and for scaling down. If unset, the controller uses its built-in rules.',
  }),
}

export const spec = s.object(specFields, {
  name: 'HorizontalPodAutoscalerSpec',
  doc: 'Specification of a HorizontalPodAutoscaler.',
  fill: (value) => fillMetrics(value),
  check: checkSpec,
})

export const condition = s.object(
  {
    type: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Type of the condition, such as AbleToScale, ScalingActive or ScalingLimited.',
    }),
    status: field(2, s.string(), { zeroValue: 'write', doc: 'Status of the condition: True, False or Unknown.' }),
    lastTransitionTime: field(3, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the status of the condition last changed.',
    }),
    reason: field(4, s.string(), {
      doc: "Machine-readable reason for the condition's last change, as one CamelCase word.",
    }),
    message: field(5, s.string(), { doc: 'Human-readable details about the last change of the condition.' }),
  },
  { name: 'HorizontalPodAutoscalerCondition', doc: 'A condition of a HorizontalPodAutoscaler.' },
)

const conditions = s.list(condition, byType)

export const observedFields = {
  observedGeneration: field(1, s.int64(), {
    zeroValue: 'keep',
    doc: 'Most recent generation that the controller has observed.',
  }),
  lastScaleTime: field(2, s.time(), { doc: 'Time when the autoscaler last changed the number of replicas.' }),
}

const statusFields = {
  ...observedFields,
  currentReplicas: field(3, s.int32(), { doc: 'Observed number of replicas.' }),
  desiredReplicas: field(4, s.int32(), {
    zeroValue: 'write',
    doc: 'Number of replicas that the autoscaler last computed as desired.',
  }),
  currentMetrics: field(5, s.list(metricStatus), { doc: 'Last observed values of the metrics.' }),
  conditions: field(6, conditions, { doc: 'Current conditions of the autoscaler, one per type.' }),
}

const status = s.object(statusFields, {
  name: 'HorizontalPodAutoscalerStatus',
  doc: 'Observed status of a HorizontalPodAutoscaler.',
})

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired behavior of the autoscaler.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the autoscaler, set by the controller.' }),
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
  doc: 'Adjusts the number of replicas of a workload to keep metrics near their targets.',
  fields,
  rules: specAndStatus<HorizontalPodAutoscaler>({
    // Drop the annotations, because v2 has fields for this data.
    fillDefaults: ({ metadata }, { vendor }) => dropCarried(metadata, vendor),
    newStatus: () => ({ desiredReplicas: 0 }),
    validateCreate: (object, context) => [
      ...checkTarget(object, undefined, context),
      ...checkThroughV1(object, context),
    ],
    validateUpdate: (next, previous, context) =>
      context.subresource === 'status'
        ? checkStatus(next.status ?? {})
        : [...checkTarget(next, previous, context), ...checkThroughV1(next, context)],
    canonicalize: ({ spec, status }, context) => {
      if (isSince(storedAsV2Since, context)) return
      if (spec?.metrics !== undefined) orderMetrics(spec)
      spec?.metrics?.forEach(fillAskedValue)
      status?.currentMetrics?.forEach(fillSeenValues)
    },
  }),
  views: {
    columns: [
      nameColumn,
      column('Reference', 'Kind and name of the object to scale.', ({ spec }: HorizontalPodAutoscaler) => {
        const { kind = '', name = '' } = spec?.scaleTargetRef ?? {}
        return `${kind}/${name}`
      }),
      { ...targetsColumn(describeTarget), until: '1.29' },
      { ...targetsColumn(describeNamedTarget), since: '1.29' },
      column('MinPods', 'Minimum number of replicas.', ({ spec }: HorizontalPodAutoscaler) =>
        String(spec?.minReplicas ?? '<unset>'),
      ),
      column('MaxPods', 'Maximum number of replicas.', ({ spec }: HorizontalPodAutoscaler) => spec?.maxReplicas ?? 0),
      column(
        'Replicas',
        'Observed number of replicas.',
        ({ status }: HorizontalPodAutoscaler) => status?.currentReplicas ?? 0,
      ),
      ageColumn,
    ],
    subresources: {
      status: plainStatus,
    },
  },
})

/**
 * The first Kubernetes version that stores objects as v2. Earlier versions store objects as v1. As a result, objects in
 * every API version contain the values that the conversion from v1 adds, in the order that the conversion produces.
 */
const storedAsV2Since = '1.26'

function targetsColumn(describe: TargetText) {
  return column('Targets', 'Current value and target of each metric.', ({ spec, status }: HorizontalPodAutoscaler) =>
    describeTargets(spec?.metrics ?? [], status?.currentMetrics ?? [], describe),
  )
}

/** Sets the default metric, CPU utilization, if the autoscaler has no metrics. */
function fillMetrics(spec: Spec): void {
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cpuMetric(80)]
}

/**
 * Moves CPU metrics to the end, because the conversion from v1 appends the CPU metric to the other metrics. Must run
 * after validation, so that errors contain the indexes of the client's list.
 */
function orderMetrics(spec: Spec): void {
  const { metrics = [] } = spec
  spec.metrics = [...metrics.filter((metric) => !isCpuTarget(metric)), ...metrics.filter(isCpuTarget)]
}

/** Whether v1 can express the metric with its CPU utilization field. */
export function isCpuTarget({ type, resource }: MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined
}

export function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }
}

function checkSpec({ minReplicas, maxReplicas = 0, metrics = [] }: Spec, path: FieldPath, context: RuleContext) {
  const isRequired = maxReplicas === 0 && isSince('1.36', context)
  const lowest = isEnabled('HPAScaleToZero', context) ? 0 : 1
  const maxPath = child(path, 'maxReplicas')
  return [
    ...(minReplicas !== undefined && minReplicas < lowest
      ? [invalid(child(path, 'minReplicas'), minReplicas, `must be greater than or equal to ${lowest}`)]
      : []),
    ...(isRequired ? [required(maxPath, 'must be greater than 0')] : []),
    ...(maxReplicas < 1 && !isRequired ? [invalid(maxPath, maxReplicas, 'must be greater than 0')] : []),
    ...(minReplicas !== undefined && maxReplicas < minReplicas
      ? [invalid(maxPath, maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : []),
    ...checkScaleToZero(metrics, minReplicas, child(path, 'metrics')),
  ]
}

/**
 * Validates the target of an autoscaler. Since 1.34, a new target must name its API group. Core kinds other than
 * ReplicationController cannot be scaled.
 */
function checkTarget(
  { spec }: HorizontalPodAutoscaler,
  previous: HorizontalPodAutoscaler | undefined,
  context: RuleContext,
): FieldError[] {
  const { apiVersion = '', kind } = spec?.scaleTargetRef ?? {}
  const stored = previous?.spec?.scaleTargetRef
  if (!isSince('1.34', context) || ((stored?.apiVersion ?? '') === apiVersion && stored)) return []
  const parts = apiVersion.split('/')
  const isNamed = parts.length === 2 && parts[0] !== ''
  if (isNamed || (parts.length === 1 && kind === 'ReplicationController')) return []
  return [invalid('spec.scaleTargetRef.apiVersion', apiVersion, 'must specify the API group')]
}

/**
 * Validates values in the form in which v1 shows them. From 1.26 to 1.35, v1 shows an unset target value of an Object
 * metric as 0, and rejects the 0 when a client writes it back.
 */
function checkThroughV1({ spec }: HorizontalPodAutoscaler, context: RuleContext): FieldError[] {
  if (context.through !== 'autoscaling/v1' || !isSince(storedAsV2Since, context) || isSince('1.36', context)) return []
  return (spec?.metrics ?? []).flatMap(({ object }, i) =>
    object !== undefined && object.target?.value === undefined
      ? [invalid(`spec.metrics[${i}].object.target.value`, '0', 'must be positive')]
      : [],
  )
}

function checkStatus({ currentReplicas = 0, desiredReplicas = 0 }: Status): FieldError[] {
  return [
    ...notNegative(currentReplicas, 'status.currentReplicas'),
    ...notNegative(desiredReplicas, 'status.desiredReplicas'),
  ]
}

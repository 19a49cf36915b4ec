/**
 * HorizontalPodAutoscaler in v1: it knows a single metric, the use of processors. Everything else that v2 has is
 * carried in annotations (carried.ts), so that clients of v1 read and write objects of v2 without a loss.
 */
import { defined } from '../../json/json.ts'
import type { Vendor } from '../../model/vendor.ts'
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { behavior } from './behavior.ts'
import { readCarried, withCarried, writeBehavior } from './carried.ts'
import {
  metricSpecV1,
  metricStatusV1,
  restoreMetrics,
  specFromV1,
  specToV1,
  statusFromV1,
  statusToV1,
} from './flat-metrics.ts'
import {
  condition,
  cpuMetric,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscaler,
  isCpuTarget,
  observedFields,
  replicaFields,
} from './horizontal-pod-autoscaler.ts'
import type { MetricStatus } from './metrics.ts'
import { wholeObjectReference } from './object-reference.ts'

const spec = s.object(
  {
    scaleTargetRef: field(1, wholeObjectReference, { zero: 'write', published: 'required', doc: 'What is scaled.' }),
    ...replicaFields,
    targetCPUUtilizationPercentage: field(4, s.int32(), {
      zero: 'keep',
      doc: 'How much of the processors that they request the Pods should use on average, in percent; 80 if unset.',
    }),
  },
  { name: 'HorizontalPodAutoscalerSpec', doc: 'What is scaled, and within which limits.' },
)

const status = s.object(
  {
    ...observedFields,
    currentReplicas: field(3, s.int32(), { zero: 'write', doc: 'How many replicas there are.' }),
    desiredReplicas: field(4, s.int32(), { zero: 'write', doc: 'How many there should be.' }),
    currentCPUUtilizationPercentage: field(5, s.int32(), {
      zero: 'keep',
      doc: 'How much of the processors that they request the Pods use on average, in percent.',
    }),
  },
  { name: 'HorizontalPodAutoscalerStatus', doc: 'What it saw and did last.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'What is scaled, and by what.' }),
  status: field(3, status, { zero: 'write', doc: 'What it saw and did last. Set by the server.' }),
}

export type HorizontalPodAutoscalerV1 = ObjectOf<typeof fields>

export const horizontalPodAutoscalerV1 = defineVersion(horizontalPodAutoscaler, {
  version: 'v1',
  fields,
  fromStored,
  toStored,
})

function fromStored(object: HorizontalPodAutoscaler, vendor: Vendor): HorizontalPodAutoscalerV1 {
  const { metrics = [], behavior: rules, ...spec } = object.spec ?? {}
  const { currentMetrics = [], conditions = [], ...status } = object.status ?? {}
  const cpu = metrics.find(isCpuTarget)
  const others = metrics.filter((metric) => metric !== cpu)
  const carried = {
    metrics: others.length > 0 ? JSON.stringify(others.map(specToV1)) : undefined,
    behavior: writeBehavior(rules),
    'current-metrics': currentMetrics.length > 0 ? JSON.stringify(currentMetrics.map(statusToV1)) : undefined,
    conditions: conditions.length > 0 ? JSON.stringify(conditions.map(inOrder)) : undefined,
  }
  return {
    ...object,
    metadata: withCarried(object.metadata, carried, vendor),
    spec: { ...spec, ...defined({ targetCPUUtilizationPercentage: cpu?.resource?.target?.averageUtilization }) },
    status: {
      ...status,
      currentReplicas: status.currentReplicas ?? 0,
      ...defined({ currentCPUUtilizationPercentage: cpuUtilization(currentMetrics) }),
    },
  }
}

function toStored(
  object: HorizontalPodAutoscalerV1,
  vendor: Vendor,
  previous?: HorizontalPodAutoscaler,
): HorizontalPodAutoscaler {
  const { metadata } = object
  const { targetCPUUtilizationPercentage: target, ...spec } = object.spec ?? {}
  const { currentCPUUtilizationPercentage: current, ...status } = object.status ?? {}
  const metrics =
    readCarried(metadata, { part: 'metrics', schema: s.list(metricSpecV1), vendor })?.map(specFromV1) ?? []
  const said = target === undefined ? metrics : [...metrics, cpuMetric(target)]
  const currentMetrics =
    readCarried(metadata, { part: 'current-metrics', schema: s.list(metricStatusV1), vendor })?.map(statusFromV1) ??
    (current === undefined ? [] : [cpuStatus(current)])
  return {
    ...object,
    metadata: withCarried(metadata, {}, vendor),
    spec: {
      ...spec,
      metrics: restoreMetrics(said, previous?.spec?.metrics ?? [], specToV1),
      ...defined({ behavior: readCarried(metadata, { part: 'behavior', schema: behavior, vendor }) }),
    },
    status: {
      ...status,
      currentMetrics: restoreMetrics(currentMetrics, previous?.status?.currentMetrics ?? [], statusToV1),
      ...defined({ conditions: readCarried(metadata, { part: 'conditions', schema: s.list(condition), vendor }) }),
    },
  }
}

function cpuUtilization(metrics: readonly MetricStatus[]): number | undefined {
  return metrics.find(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')?.resource?.current
    ?.averageUtilization
}

function cpuStatus(averageUtilization: number): MetricStatus {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }
}

/** Members in the order of the wire. */
function inOrder({ type, status, lastTransitionTime, reason, message }: InferFields<typeof condition.fields>) {
  return { type, status, lastTransitionTime, reason, message }
}

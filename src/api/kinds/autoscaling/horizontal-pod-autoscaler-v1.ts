/**
 * HorizontalPodAutoscaler v1, which has a metric field only for CPU utilization. Annotations contain all other fields
 * of v2 (carried.ts), so that v1 clients can read and write v2 objects without losing data.
 */
import { defined } from '../../json/json.ts'
import type { Vendor } from '../../model/vendor.ts'
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import type { EmulatedVersion } from '../../versions/emulated-version.ts'
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
    scaleTargetRef: field(1, wholeObjectReference, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Object to scale. It must support the scale subresource.',
    }),
    ...replicaFields,
    targetCPUUtilizationPercentage: field(4, s.int32(), {
      zeroValue: 'keep',
      doc: 'Target CPU utilization, averaged over the pods, as a percentage of their CPU requests. Defaults to 80.',
    }),
  },
  { name: 'HorizontalPodAutoscalerSpec', doc: 'Specification of a HorizontalPodAutoscaler.' },
)

const status = s.object(
  {
    ...observedFields,
    currentReplicas: field(3, s.int32(), { zeroValue: 'write', doc: 'Observed number of replicas.' }),
    desiredReplicas: field(4, s.int32(), {
      zeroValue: 'write',
      doc: 'Number of replicas that the autoscaler last computed as desired.',
    }),
    currentCPUUtilizationPercentage: field(5, s.int32(), {
      zeroValue: 'keep',
      doc: 'Observed CPU utilization, averaged over the pods, as a percentage of their CPU requests.',
    }),
  },
  { name: 'HorizontalPodAutoscalerStatus', doc: 'Observed status of a HorizontalPodAutoscaler.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired behavior of the autoscaler.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the autoscaler, set by the controller.' }),
}

export type HorizontalPodAutoscalerV1 = ObjectOf<typeof fields>

export const horizontalPodAutoscalerV1 = defineVersion(horizontalPodAutoscaler, {
  version: 'v1',
  fields,
  fromStored,
  toStored,
})

function fromStored(
  object: HorizontalPodAutoscaler,
  vendor: Vendor,
  emulated?: EmulatedVersion,
): HorizontalPodAutoscalerV1 {
  const { metrics = [], behavior: rules, ...spec } = object.spec ?? {}
  const { currentMetrics = [], conditions = [], ...status } = object.status ?? {}
  const cpu = metrics.find(isCpuTarget)
  const others = metrics.filter((metric) => metric !== cpu)
  const carried = {
    metrics: others.length > 0 ? JSON.stringify(others.map(specToV1)) : undefined,
    behavior: writeBehavior(rules, emulated),
    'current-metrics': currentMetrics.length > 0 ? JSON.stringify(currentMetrics.map(statusToV1)) : undefined,
    conditions: conditions.length > 0 ? JSON.stringify(conditions.map(orderedCondition)) : undefined,
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
  const allMetrics = target === undefined ? metrics : [...metrics, cpuMetric(target)]
  const currentMetrics =
    readCarried(metadata, { part: 'current-metrics', schema: s.list(metricStatusV1), vendor })?.map(statusFromV1) ??
    (current === undefined ? [] : [cpuStatus(current)])
  return {
    ...object,
    metadata: withCarried(metadata, {}, vendor),
    spec: {
      ...spec,
      metrics: restoreMetrics(allMetrics, previous?.spec?.metrics ?? [], specToV1),
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

/** Returns a condition with its members in encoding order. */
function orderedCondition({ type, status, lastTransitionTime, reason, message }: InferFields<typeof condition.fields>) {
  return { type, status, lastTransitionTime, reason, message }
}

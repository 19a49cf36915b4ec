/**
 * HorizontalPodAutoscaler v2beta1, which has metrics in the flat format (flat-metrics.ts) and no field for the
 * behavior. An annotation contains the behavior (carried.ts).
 */
import { defined } from '../../json/json.ts'
import type { Vendor } from '../../model/vendor.ts'
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import type { EmulatedVersion } from '../../versions/emulated-version.ts'
import { behavior } from './behavior.ts'
import { readCarried, withCarried, writeBehavior } from './carried.ts'
import {
  type MetricSpecV1,
  metricSpecV1,
  metricStatusV1,
  restoreMetrics,
  specFromV1,
  specToV1,
  statusFromV1,
  statusToV1,
  valueTarget,
} from './flat-metrics.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscaler, replicaFields } from './horizontal-pod-autoscaler.ts'
import { olderConditions, olderStatusFields } from './horizontal-pod-autoscaler-v2beta2.ts'
import type { MetricSpec, MetricStatus } from './metrics.ts'
import { objectReference } from './object-reference.ts'

const spec = s.object(
  {
    scaleTargetRef: field(1, objectReference, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Object to scale. It must support the scale subresource.',
    }),
    ...replicaFields,
    metrics: field(4, s.list(metricSpecV1), {
      doc: 'Metrics to scale by. The metric that requires the most replicas determines the number of replicas. Defaults to a CPU utilization of 80%.',
    }),
  },
  {
    name: 'HorizontalPodAutoscalerSpec',
    doc: 'Specification of a HorizontalPodAutoscaler.',
    fill: (value) => {
      if ((value.metrics ?? []).length === 0)
        value.metrics = [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 80 } }]
    },
  },
)

const status = s.object(
  {
    ...olderStatusFields,
    currentMetrics: field(5, s.list(metricStatusV1), { doc: 'Last observed values of the metrics.' }),
    conditions: olderConditions,
  },
  { name: 'HorizontalPodAutoscalerStatus', doc: 'Observed status of a HorizontalPodAutoscaler.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired behavior of the autoscaler.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the autoscaler, set by the controller.' }),
}

type HorizontalPodAutoscalerV2beta1 = ObjectOf<typeof fields>

export const horizontalPodAutoscalerV2beta1 = defineVersion(horizontalPodAutoscaler, {
  version: 'v2beta1',
  fields,
  until: '1.25',
  deprecated: { since: '1.22', instead: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' } },
  fromStored,
  toStored,
})

function fromStored(
  object: HorizontalPodAutoscaler,
  vendor: Vendor,
  emulated?: EmulatedVersion,
): HorizontalPodAutoscalerV2beta1 {
  const { metrics = [], behavior: rules, ...spec } = object.spec ?? {}
  const { currentMetrics, ...status } = object.status ?? {}
  return {
    ...object,
    metadata: withCarried(object.metadata, { behavior: writeBehavior(rules, emulated) }, vendor),
    spec: { ...spec, metrics: metrics.map(specToV1) },
    status: {
      ...status,
      currentReplicas: status.currentReplicas ?? 0,
      ...defined({ currentMetrics: currentMetrics?.map(statusToV1) }),
    },
  }
}

function toStored(
  object: HorizontalPodAutoscalerV2beta1,
  vendor: Vendor,
  previous?: HorizontalPodAutoscaler,
): HorizontalPodAutoscaler {
  const { metadata } = object
  const { metrics = [], ...spec } = object.spec ?? {}
  const { currentMetrics = [], ...status } = object.status ?? {}
  const stored: readonly MetricSpec[] = previous?.spec?.metrics ?? []
  const observedMetrics: readonly MetricStatus[] = previous?.status?.currentMetrics ?? []
  return {
    ...object,
    metadata: withCarried(metadata, {}, vendor),
    spec: {
      ...spec,
      metrics: restoreMetrics(metrics.map(specFromV2beta1), stored, specToV1),
      ...defined({ behavior: readCarried(metadata, { part: 'behavior', schema: behavior, vendor }) }),
    },
    status: {
      ...status,
      currentMetrics: restoreMetrics(currentMetrics.map(statusFromV1), observedMetrics, statusToV1),
    },
  }
}

/**
 * Converts a metric like `specFromV1`, except that an unset target value of an Object metric remains unset instead of
 * becoming 0.
 */
function specFromV2beta1(metric: MetricSpecV1): MetricSpec {
  const { object } = metric
  const converted = specFromV1(metric)
  if (object !== undefined && converted.object !== undefined)
    converted.object.target = valueTarget(object.targetValue, object.averageValue)
  return converted
}

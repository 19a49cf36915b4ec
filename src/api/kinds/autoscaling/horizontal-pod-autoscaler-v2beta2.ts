/**
 * HorizontalPodAutoscaler v2beta2, which differs from v2 in two ways: the status always includes currentReplicas, and
 * the conditions are an atomic list.
 */
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import {
  condition,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscaler,
  observedFields,
  spec,
} from './horizontal-pod-autoscaler.ts'
import { metricStatus } from './metrics.ts'

/** The first fields of the autoscaler status in API versions before v2. */
export const olderStatusFields = {
  ...observedFields,
  currentReplicas: field(3, s.int32(), { zeroValue: 'write', doc: 'Observed number of replicas.' }),
  desiredReplicas: field(4, s.int32(), {
    zeroValue: 'write',
    doc: 'Number of replicas that the autoscaler last computed as desired.',
  }),
}

/** The conditions of an autoscaler in versions before v2. Unlike in v2, the list has no merge keys. */
export const olderConditions = field(6, s.list(condition), { doc: 'Current conditions of the autoscaler.' })

const status = s.object(
  {
    ...olderStatusFields,
    currentMetrics: field(5, s.list(metricStatus), { doc: 'Last observed values of the metrics.' }),
    conditions: olderConditions,
  },
  { name: 'HorizontalPodAutoscalerStatus', doc: 'Observed status of a HorizontalPodAutoscaler.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired behavior of the autoscaler.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the autoscaler, set by the controller.' }),
}

export const horizontalPodAutoscalerV2beta2 = defineVersion(horizontalPodAutoscaler, {
  version: 'v2beta2',
  fields,
  until: '1.26',
  deprecated: { since: '1.23', instead: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' } },
  fromStored: (object: HorizontalPodAutoscaler): ObjectOf<typeof fields> => ({
    ...object,
    status: { ...object.status, currentReplicas: object.status?.currentReplicas ?? 0 },
  }),
  toStored: (object: ObjectOf<typeof fields>): HorizontalPodAutoscaler => object,
})

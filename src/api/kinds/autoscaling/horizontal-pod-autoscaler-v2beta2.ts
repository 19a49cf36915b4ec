/** HorizontalPodAutoscaler in v2beta2: as v2 has it, but for how its status is written and merged. */
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

/** What the status of the versions before v2 begins with. */
export const olderStatusFields = {
  ...observedFields,
  currentReplicas: field(3, s.int32(), { zero: 'write', doc: 'How many replicas there are.' }),
  desiredReplicas: field(4, s.int32(), { zero: 'write', doc: 'How many there should be.' }),
}

/** They are one whole in these versions. */
export const olderConditions = field(6, s.list(condition), { doc: 'How scaling goes.' })

const status = s.object(
  {
    ...olderStatusFields,
    currentMetrics: field(5, s.list(metricStatus), { doc: 'What was last seen of each metric.' }),
    conditions: olderConditions,
  },
  { name: 'HorizontalPodAutoscalerStatus', doc: 'What it saw and did last.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'What is scaled, and by what.' }),
  status: field(3, status, { zero: 'write', doc: 'What it saw and did last. Set by the server.' }),
}

export const horizontalPodAutoscalerV2beta2 = defineVersion(horizontalPodAutoscaler, {
  version: 'v2beta2',
  fields,
  deprecated: {
    since: 'v1.23',
    until: 'v1.26',
    instead: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
  },
  fromStored: (object: HorizontalPodAutoscaler): ObjectOf<typeof fields> => ({
    ...object,
    status: { ...object.status, currentReplicas: object.status?.currentReplicas ?? 0 },
  }),
  toStored: (object: ObjectOf<typeof fields>): HorizontalPodAutoscaler => object,
})

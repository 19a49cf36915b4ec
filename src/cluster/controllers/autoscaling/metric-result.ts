/** The input and output types of the functions that evaluate metrics, one function per metric type. */
import type { MetricStatus } from '../../../api/kinds/autoscaling/metrics.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { formatQuantity } from '../../../api/model/quantity.ts'
import type { MetricsApi } from './metrics-api.ts'
import type { Tolerance } from './resource-usage.ts'

/** Thrown if a metric is unavailable. `reason` becomes the reason of the ScalingActive condition. */
export class MetricError extends Error {
  override readonly name = 'MetricError'
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

export interface MetricSources {
  readonly replicas: number
  readonly tolerance: Tolerance
  readonly now: number
  readonly listPods: () => Promise<readonly Pod[]>
  readonly api: MetricsApi
}

/** The recommendation of one metric, and the metric's current value for the status. */
export interface MetricResult {
  /** Name of the metric, as it appears in the messages of conditions. */
  readonly name: string
  readonly replicas: number
  readonly status: MetricStatus
}

/** Formats a number as a quantity, rounded to three decimal places. */
export function quantityOf(value: number, form: 'decimal' | 'binary' = 'decimal'): string {
  return formatQuantity({ nanos: BigInt(Math.round(value * 1000)) * 1_000_000n, form })
}

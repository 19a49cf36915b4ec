/** What every type of metric is worked out from, and what comes of it. */
import type { MetricStatus } from '../../../api/kinds/autoscaling/metrics.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { formatQuantity } from '../../../api/model/quantity.ts'
import type { MetricsApi } from './metrics-api.ts'

/** Why a metric says nothing, as a condition has it. */
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
  readonly tolerance: number
  readonly now: number
  readonly listPods: () => Promise<readonly Pod[]>
  readonly api: MetricsApi
}

/** What one metric calls for. */
export interface MetricResult {
  /** The metric, for people. */
  readonly name: string
  readonly replicas: number
  readonly status: MetricStatus
}

/** A number as statuses have it, to a thousandth. */
export function quantityOf(value: number, form: 'decimal' | 'binary' = 'decimal'): string {
  return formatQuantity({ nanos: BigInt(Math.round(value * 1000)) * 1_000_000n, form })
}

/** Metrics of conversion webhooks, under the names that kube-apiserver 1.23 uses. */
import { Histogram, type Metric } from '../../../base/telemetry/metrics.ts'

export interface Conversion {
  /** Name of the CustomResourceDefinition. */
  readonly definition: string
  readonly from: string
  readonly to: string
  readonly succeeded: boolean
  readonly seconds: number
}

const shortest = 0.001

/** Measures the duration of conversion webhook calls. */
export class ConversionMetrics {
  readonly #durations = new Histogram(
    {
      name: 'apiserver_crd_webhook_conversion_duration_seconds',
      help: 'Duration of custom resource conversions by webhooks.',
      labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    },
    Array.from({ length: 15 }, (_, i) => shortest * 2 ** i),
  )
  readonly metrics: readonly Metric[] = [this.#durations]

  converted({ definition, from, to, succeeded, seconds }: Conversion): void {
    this.#durations.at(definition, from, to, String(succeeded)).observe(seconds)
  }
}

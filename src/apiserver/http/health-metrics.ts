/**
 * Metrics of the health checks, by check and endpoint. They are served on a separate page because there are many of
 * them.
 */
import { Counter, Gauge, type Metric } from '../../base/telemetry/metrics.ts'

const page = '/metrics/slis'

/** Records the results of health checks. */
export class HealthMetrics {
  /** The latest result of each check and endpoint: 1 for success, 0 for failure. */
  readonly #latest = new Map<string, { readonly values: readonly string[]; readonly value: number }>()
  readonly #results = new Counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Number of health check results.',
    labels: ['name', 'type', 'status'],
    page,
  })
  readonly metrics: readonly Metric[] = [
    new Gauge(
      {
        name: 'kubernetes_healthcheck',
        help: 'Latest result of a health check: 1 if it passed, otherwise 0.',
        labels: ['name', 'type'],
        across: 'min',
        page,
      },
      () => [...this.#latest.values()].map(({ values, value }) => [values, value] as const),
    ),
    this.#results,
  ]

  /**
   * Records the result of a check on an endpoint such as `readyz`. Clients cannot influence either label, so the number
   * of series is bounded.
   */
  record(check: string, endpoint: string, result: 'success' | 'error'): void {
    const values = [check, endpoint]
    this.#latest.set(values.join('/'), { values, value: result === 'success' ? 1 : 0 })
    this.#results.at(check, endpoint, result).value++
  }
}

/**
 * Metrics about reloads of a configuration file while the server is running, with the same names as in kube-apiserver.
 */
import { Counter, Gauge, type Metric } from '../../base/telemetry/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'

type Status = 'success' | 'failure'

/** Metrics about reloads of one configuration file. */
export class ReloadMetrics {
  readonly #clock: Clock
  readonly #reloads: Counter
  readonly #lastReloads = new Map<Status, number>()
  readonly metrics: readonly Metric[]

  constructor(subject: 'authentication' | 'authorization', clock: Clock) {
    this.#clock = clock
    const prefix = `apiserver_${subject}_config_controller_automatic_reload`
    this.#reloads = new Counter({
      name: `${prefix}s_total`,
      help: `Number of reloads of the ${subject} configuration file, by status: success or failure.`,
      labels: ['status'],
    })
    const lastReloads = new Gauge(
      {
        name: `${prefix}_last_timestamp_seconds`,
        help: `Time of the last reload of the ${subject} configuration file, by status.`,
        labels: ['status'],
        across: 'max',
      },
      () => [...this.#lastReloads].map(([status, time]) => [[status], time] as const),
    )
    this.metrics = [this.#reloads, lastReloads]
  }

  /** Calls `reload` and counts whether it succeeded. Rethrows its error. */
  count(reload: () => void): void {
    try {
      reload()
      this.#end('success')
    } catch (error) {
      this.#end('failure')
      throw error
    }
  }

  #end(status: Status): void {
    this.#reloads.at(status).value++
    this.#lastReloads.set(status, this.#clock.now() / 1000)
  }
}

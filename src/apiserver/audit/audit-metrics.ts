/** Audit metrics, with the names that kube-apiserver 1.23 uses. */
import { Counter, type Metric } from '../../base/telemetry/metrics.ts'
import { type Level, levels } from './policy.ts'

/** Counts events, requests by audit level, and lost events. */
export class AuditMetrics {
  readonly #events = new Counter({
    name: 'apiserver_audit_event_total',
    help: 'Audit events passed to the sinks.',
    labels: [],
  })
  readonly #levels = new Counter({
    name: 'apiserver_audit_level_total',
    help: 'Requests by audit level.',
    labels: ['level'],
  })
  readonly #errors = new Counter({
    name: 'apiserver_audit_error_total',
    help: 'Audit events that a sink could not write, or dropped because its buffer was full.',
    labels: ['plugin'],
  })
  readonly #rejected = new Counter({
    name: 'apiserver_audit_requests_rejected_total',
    help: 'Requests rejected because they could not be recorded.',
    labels: [],
  })
  readonly metrics: readonly Metric[] = [this.#events, this.#levels, this.#errors, this.#rejected]
  readonly events = this.#events.at()
  readonly rejected = this.#rejected.at()
  /** The number of audited requests for each audit level. */
  readonly requests = Object.fromEntries(levels.map((level) => [level, this.#levels.at(level)])) as {
    readonly [L in Level]: { value: number }
  }

  lost(sink: string, events: number): void {
    this.#errors.at(sink).value += events
  }
}

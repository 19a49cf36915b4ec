/** Webhook metrics, under the names that kube-apiserver 1.23 uses, and the state of the circuit breakers. */
import { Counter, Gauge, Histogram, type Metric } from '../../../base/telemetry/metrics.ts'
import type { AdmissionOperation } from '../admission.ts'
import type { Phase, Webhook } from './webhook.ts'

/**
 * Metric label for the cause of a rejection: the call failed, the patch was unusable, or the webhook denied the
 * request.
 */
export type RejectionCause = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error'

export interface WebhookOutcome {
  readonly webhook: Webhook
  readonly operation: AdmissionOperation
  readonly ms: number
  /** Status code of the response. Defaults to 200. */
  readonly code: number
  /** Cause of the rejection. Undefined if the request was not rejected. */
  readonly rejection: RejectionCause | undefined
}

export class WebhookMetrics {
  readonly #durations = new Histogram(
    {
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Duration of calls to admission webhooks.',
      labels: ['name', 'type', 'operation', 'rejected'],
    },
    [0.005, 0.025, 0.1, 0.5, 1, 2.5],
  )
  readonly #requests = new Counter({
    name: 'apiserver_admission_webhook_request_total',
    help: 'Requests to admission webhooks.',
    labels: ['name', 'type', 'operation', 'code', 'rejected'],
  })
  readonly #rejections = new Counter({
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Requests that admission webhooks rejected, or that failed because of them.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  })
  readonly #ignored = new Counter({
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Failed calls to admission webhooks whose failure policy is Ignore.',
    labels: ['name', 'type'],
  })
  readonly #bypassed = new Counter({
    name: 'orch_admission_webhook_bypass_total',
    help: 'Requests that bypassed webhooks through break-glass access.',
    labels: ['type'],
  })
  #all: () => readonly Webhook[] = () => []
  readonly metrics: readonly Metric[] = [
    this.#durations,
    this.#requests,
    this.#rejections,
    this.#ignored,
    this.#bypassed,
    new Gauge(
      {
        name: 'orch_admission_webhook_breaker_open',
        help: 'Webhooks whose circuit breaker is open on this server.',
        labels: ['configuration', 'name', 'type'],
        across: 'max',
      },
      () =>
        this.#all()
          .filter(({ breaker }) => breaker.state.open)
          .map(({ configuration, name, phase }) => [[configuration, name, stepOf(phase)], 1] as const),
    ),
  ]

  /** Sets the function that is called to list the current webhooks whenever the metrics are read. */
  showBreakers(all: () => readonly Webhook[]): void {
    this.#all = all
  }

  called({ webhook, operation, ms, code, rejection }: WebhookOutcome): void {
    const { name, phase } = webhook
    const step = stepOf(phase)
    const rejected = String(rejection !== undefined)
    this.#durations.at(name, step, operation, rejected).observe(ms / 1000)
    this.#requests.at(name, step, operation, String(code), rejected).value++
    if (rejection !== undefined) this.#rejections.at(name, step, operation, rejection, String(code)).value++
  }

  ignored({ name, phase }: Webhook): void {
    this.#ignored.at(name, stepOf(phase)).value++
  }

  bypassed(phase: Phase): void {
    this.#bypassed.at(stepOf(phase)).value++
  }
}

/** Returns the value of the `type` label for a phase, as in Kubernetes 1.23. */
function stepOf(phase: Phase): string {
  return phase === 'mutating' ? 'admit' : 'validating'
}

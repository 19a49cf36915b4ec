/**
 * Admission metrics: the duration of each plugin and phase, by operation and outcome. AdmissionMetrics wraps the
 * plugins, which therefore contain no measurement code.
 */

import { type Distribution, Histogram, type Metric } from '../../base/telemetry/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Admission, AdmissionOperation, AdmissionRequest, Control } from './admission.ts'
import { PodSecurityMetrics } from './pod-security/pod-security-metrics.ts'
import { PolicyMetrics } from './policy/policy-metrics.ts'
import { WebhookMetrics } from './webhook/webhook-metrics.ts'

const durations = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
const operations: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']

/** The metrics of one plugin or phase, by admission operation. */
type ByOperation = { readonly [O in AdmissionOperation]: Outcomes }

interface Outcomes {
  readonly admitted: Distribution
  readonly rejected: Distribution
}

/** Measures the duration of admission by plugin and operation, and counts the requests that each plugin rejects. */
export class AdmissionMetrics {
  readonly #clock: Clock
  readonly #controls = new Histogram(
    {
      name: 'apiserver_admission_controller_admission_duration_seconds',
      help: 'Duration of each admission plugin.',
      labels: ['name', 'type', 'operation', 'rejected'],
    },
    durations,
  )
  readonly #steps = new Histogram(
    {
      name: 'apiserver_admission_step_admission_duration_seconds',
      help: 'Duration of the admission phases: mutating (admit) and validating (validate).',
      labels: ['type', 'operation', 'rejected'],
    },
    durations,
  )
  readonly podSecurity = new PodSecurityMetrics()
  readonly webhooks = new WebhookMetrics()
  readonly policies = new PolicyMetrics()
  readonly metrics: readonly Metric[] = [
    this.#controls,
    this.#steps,
    this.podSecurity.evaluations,
    this.podSecurity.exemptions,
    ...this.webhooks.metrics,
    ...this.policies.metrics,
  ]

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Wraps an admission plugin so that its duration and rejections are measured. A synchronous plugin stays
   * synchronous.
   */
  measuredControl(control: Control): Control {
    const { name, mutate, validate } = control
    return {
      ...control,
      ...(mutate && { mutate: this.#measured(mutate, byOperation(this.#controls, name, 'admit')) }),
      ...(validate && { validate: this.#measured(validate, byOperation(this.#controls, name, 'validate')) }),
    }
  }

  /** Wraps a chain of admission plugins so that the duration of each phase is measured. */
  measuredChain({ mutate, validate }: Admission): Admission {
    return {
      mutate: this.#measured(mutate, byOperation(this.#steps, 'admit')),
      validate: this.#measured(validate, byOperation(this.#steps, 'validate')),
    }
  }

  #measured<T, M extends readonly unknown[]>(
    work: (request: AdmissionRequest, ...more: M) => T,
    series: ByOperation,
  ): (request: AdmissionRequest, ...more: M) => T {
    return (request, ...more) => {
      const began = this.#clock.monotonic()
      const { admitted, rejected } = series[request.operation]
      const end = (distribution: Distribution) => distribution.observe((this.#clock.monotonic() - began) / 1000)
      try {
        const answer = work(request, ...more)
        if (!(answer instanceof Promise)) end(admitted)
        else
          answer.then(
            () => end(admitted),
            () => end(rejected),
          )
        return answer
      } catch (error) {
        end(rejected)
        throw error
      }
    }
  }
}

function byOperation(histogram: Histogram, ...labels: readonly string[]): ByOperation {
  const outcomes = (operation: AdmissionOperation): Outcomes => ({
    admitted: histogram.at(...labels, operation, 'false'),
    rejected: histogram.at(...labels, operation, 'true'),
  })
  return Object.fromEntries(operations.map((operation) => [operation, outcomes(operation)])) as unknown as ByOperation
}

/** Metrics of admission policies and match conditions, under the same names as in kube-apiserver. */
import { Counter, Histogram, type Metric } from '../../../base/telemetry/metrics.ts'
import type { AdmissionOperation } from '../admission.ts'

/** Why an expression could not be evaluated. */
export type ErrorType = 'compile_error' | 'invalid_error' | 'out_of_budget' | 'no_error'

/** The outcome of a validation: `allow`, or the action of the binding for a violation. */
export type EnforcementAction = 'allow' | 'deny' | 'warn' | 'audit'

interface Checked {
  readonly policy: string
  readonly binding: string
  readonly error: ErrorType
  readonly ms: number
}

const durations = [0.0000005, 0.001, 0.01, 0.1, 1]

export class PolicyMetrics {
  readonly #validated = checksOf('validating', ['enforcement_action'])
  readonly #mutated = checksOf('mutating', [])
  readonly #excluded = new Counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    help: 'Requests to which a webhook or policy does not apply because of its match conditions.',
    labels: ['name', 'kind', 'type', 'operation'],
  })
  readonly #conditionErrors = new Counter({
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    help: 'Match conditions that could not be evaluated.',
    labels: ['name', 'kind', 'type', 'operation'],
  })
  readonly metrics: readonly Metric[] = [
    this.#validated.total,
    this.#validated.durations,
    this.#mutated.total,
    this.#mutated.durations,
    this.#excluded,
    this.#conditionErrors,
  ]

  validated(checked: Checked, action: EnforcementAction): void {
    record(this.#validated, checked, [action])
  }

  mutated(checked: Checked): void {
    record(this.#mutated, checked, [])
  }

  /** Counts match conditions that exclude a request, and match conditions that fail. */
  conditions(outcome: 'unmet' | 'failed', { name, kind, type, operation }: Conditional): void {
    const counter = outcome === 'unmet' ? this.#excluded : this.#conditionErrors
    counter.at(name, kind, type, operation).value++
  }
}

/** A webhook or policy with match conditions. */
export interface Conditional {
  readonly name: string
  readonly kind: 'webhook' | 'policy'
  readonly type: 'validating' | 'admit'
  readonly operation: AdmissionOperation
}

interface Checks {
  readonly total: Counter
  readonly durations: Histogram
}

function checksOf(family: string, further: readonly string[]): Checks {
  const labels = ['policy', 'policy_binding', 'error_type', ...further]
  const name = `apiserver_${family}_admission_policy_check`
  return {
    total: new Counter({
      name: `${name}_total`,
      help: `Expressions of ${family} policies that were evaluated.`,
      labels,
    }),
    durations: new Histogram(
      { name: `${name}_duration_seconds`, help: `Duration of evaluating an expression of a ${family} policy.`, labels },
      durations,
    ),
  }
}

function record(
  { total, durations }: Checks,
  { policy, binding, error, ms }: Checked,
  further: readonly string[],
): void {
  total.at(policy, binding, error, ...further).value++
  durations.at(policy, binding, error, ...further).observe(ms / 1000)
}

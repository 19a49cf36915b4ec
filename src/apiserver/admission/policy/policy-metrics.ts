/** Metrics of admission policies and match conditions, under the same names as in kube-apiserver. */
import { type Count, Counter, type Distribution, Histogram, type Metric } from '../../../base/telemetry/metrics.ts'
import type { AdmissionOperation } from '../admission.ts'
import type { Binding, Policy } from './policies.ts'

/** The `error_type` label: why an expression could not be evaluated, or `no_error`. */
export type ErrorType = 'compile_error' | 'invalid_error' | 'out_of_budget' | 'no_error'

/** The outcome of a validation: `allow`, or the binding's action for a violation. */
export type EnforcementAction = 'allow' | 'deny' | 'warn' | 'audit'

interface Checked {
  readonly policy: Policy
  readonly binding: Binding
  readonly error: ErrorType
  readonly ms: number
}

const durations = [0.0000005, 0.001, 0.01, 0.1, 1]

export class PolicyMetrics {
  readonly #validated = new Checks('validating', ['enforcement_action'])
  readonly #mutated = new Checks('mutating', [])
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
    ...this.#validated.metrics,
    ...this.#mutated.metrics,
    this.#excluded,
    this.#conditionErrors,
  ]

  validated(checked: Checked, action: EnforcementAction): void {
    this.#validated.record(checked, action)
  }

  mutated(checked: Checked): void {
    this.#mutated.record(checked)
  }

  /** Counts match conditions that exclude a request, and match conditions that fail. */
  conditions(outcome: 'unmet' | 'failed', { name, kind, type, operation }: Conditional): void {
    const counter = outcome === 'unmet' ? this.#excluded : this.#conditionErrors
    counter.at(name, kind, type, operation).value++
  }
}

/** A webhook or policy with match conditions, under the name that the metrics use. */
export interface Conditional {
  readonly name: string
  readonly kind: 'webhook' | 'policy'
  readonly type: 'validating' | 'admit'
  readonly operation: AdmissionOperation
}

interface Series {
  readonly total: Count
  readonly duration: Distribution
}

/** The number and durations of evaluated expressions, either for validating or for mutating policies. */
class Checks {
  readonly metrics: readonly [Counter, Histogram]
  /** The series of each binding by action and error type. */
  readonly #series = new WeakMap<Binding, Map<EnforcementAction | undefined, Map<ErrorType, Series>>>()

  constructor(family: string, further: readonly string[]) {
    const labels = ['policy', 'policy_binding', 'error_type', ...further]
    const name = `apiserver_${family}_admission_policy_check`
    const total = { name: `${name}_total`, help: `Expressions of ${family} policies that were evaluated.`, labels }
    const help = `Duration of evaluating an expression of a ${family} policy.`
    this.metrics = [new Counter(total), new Histogram({ name: `${name}_duration_seconds`, help, labels }, durations)]
  }

  record(checked: Checked, action?: EnforcementAction): void {
    const series = this.#series.get(checked.binding)?.get(action)?.get(checked.error)
    const { total, duration } = series ?? this.#addSeries(checked, action)
    total.value++
    duration.observe(checked.ms / 1000)
  }

  #addSeries({ policy, binding, error }: Checked, action?: EnforcementAction): Series {
    const values = [policy.name, binding.name, error, ...(action === undefined ? [] : [action])]
    const [total, duration] = this.metrics
    const series = { total: total.at(...values), duration: duration.at(...values) }
    const ofBinding = this.#series.get(binding) ?? new Map<EnforcementAction | undefined, Map<ErrorType, Series>>()
    const ofAction = ofBinding.get(action) ?? new Map<ErrorType, Series>()
    this.#series.set(binding, ofBinding.set(action, ofAction.set(error, series)))
    return series
  }
}

/** Evaluates the match conditions of webhooks. A webhook is called only if all of its conditions are true. */
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import { compileConditions, type NamedExpression } from '../policy/compiled-policy.ts'
import { evaluateConditions } from '../policy/conditions.ts'
import { Evaluation } from '../policy/evaluation.ts'
import type { LoadPatterns } from '../policy/policy-faults.ts'
import type { PolicyMetrics } from '../policy/policy-metrics.ts'
import { type DataParts, type RequestData, requestData } from '../policy/request-data.ts'
import { refusal } from '../refusal.ts'
import type { Candidate } from './configurations.ts'
import type { Webhook } from './webhook.ts'

export interface ConditionParts extends DataParts {
  readonly policyMetrics: PolicyMetrics
  readonly conditions: CompiledConditions
}

/** Compiles the match conditions of webhooks, each on first use. */
export class CompiledConditions {
  readonly #loadPatterns: LoadPatterns
  readonly #compiled = new WeakMap<Webhook, Promise<readonly NamedExpression[]>>()

  constructor(loadPatterns: LoadPatterns) {
    this.#loadPatterns = loadPatterns
  }

  of(webhook: Webhook): Promise<readonly NamedExpression[]> {
    const compiled = this.#compiled.get(webhook) ?? this.#compile(webhook)
    this.#compiled.set(webhook, compiled)
    return compiled
  }

  async #compile({ matchConditions }: Webhook): Promise<readonly NamedExpression[]> {
    const readPattern = await this.#loadPatterns()
    return await new TimeSlice().run(compileConditions(matchConditions, { readPattern }, { params: false }))
  }
}

/** Evaluates match conditions for one request. Results are cached until the object of the request changes. */
export class RequestConditions {
  readonly #parts: ConditionParts
  readonly #request: AdmissionRequest
  readonly #timeSlice = new TimeSlice()
  readonly #data = new Map<ObjectForm, Promise<RequestData>>()

  constructor(parts: ConditionParts, request: AdmissionRequest) {
    this.#parts = parts
    this.#request = request
  }

  /**
   * Whether all match conditions of the webhook are true. Throws an error with status 403 if a condition cannot be
   * evaluated and the failure policy is Fail.
   */
  async areMet({ webhook, form }: Candidate): Promise<boolean> {
    if (webhook.matchConditions.length === 0) return true
    const data = this.#data.get(form) ?? requestData(this.#request, form, this.#parts)
    this.#data.set(form, data)
    const evaluation = new Evaluation(await data, { variables: [], params: null, timeSlice: this.#timeSlice })
    const matched = await evaluateConditions(await this.#parts.conditions.of(webhook), evaluation)
    if (matched.outcome === 'met') return true
    const { operation } = this.#request
    const type = webhook.phase === 'mutating' ? 'admit' : 'validating'
    this.#parts.policyMetrics.conditions(matched.outcome, { name: webhook.name, kind: 'webhook', type, operation })
    if (matched.outcome === 'failed' && !webhook.ignoresFailures) throw refusal(this.#request, matched.why)
    return false
  }
}

/**
 * Applies the mutating policies of a request in order. Each mutation receives the object with the earlier changes. If a
 * policy fails and its failure policy is Fail, the request is rejected after all policies have run.
 */
import type { Value } from '../../../api/cel/values.ts'
import { type JsonObject, sameJson } from '../../../api/json/json.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest } from '../admission.ts'
import { keepNames } from '../keep-names.ts'
import type { ObjectForm } from '../object-forms.ts'
import { refusal } from '../refusal.ts'
import type { Rounds } from '../reinvocation.ts'
import { applyMutationSliced, MutationError } from './apply-mutation.ts'
import type { Candidates } from './candidates.ts'
import type { CompiledMutation } from './compiled-mutations.ts'
import type { CommonExpressions } from './compiled-policy.ts'
import { evaluateConditions } from './conditions.ts'
import { Evaluation } from './evaluation.ts'
import { policyExplainer } from './explain-policy.ts'
import type { MutatingPolicy } from './families.ts'
import { type Invocation, type InvocationParts, invocationsOf } from './invocations.ts'
import type { ErrorType, PolicyMetrics } from './policy-metrics.ts'
import { type DataParts, type RequestData, requestData, withObject } from './request-data.ts'

export interface MutationParts extends InvocationParts, DataParts {
  readonly metrics: PolicyMetrics
}

interface Round {
  readonly request: AdmissionRequest
  readonly candidates: Candidates<MutatingPolicy>
  /**
   * Tracks which policies run again in the second round. Each key identifies a policy, a binding and a parameter
   * object.
   */
  readonly rounds: Rounds<string>
}

/**
 * Applies all mutating policies that match the request. Returns the changed object, or the original object if nothing
 * changed.
 */
export async function mutateRequest(parts: MutationParts, round: Round): Promise<ApiObject | undefined> {
  const { request, candidates, rounds } = round
  if (request.again) rounds.begin(request.object)
  const mutating = new Mutating(parts, request)
  for (const invocation of await invocationsOf(parts, request, candidates)) await mutating.invoke(invocation, rounds)
  if (mutating.object !== request.object) rounds.changed()
  rounds.end(mutating.object)
  mutating.throwFailures()
  return mutating.object
}

interface Failure {
  readonly message: string
  readonly reason: 'Forbidden' | 'Invalid'
}

interface Inputs extends Pick<CommonExpressions, 'variables'> {
  readonly params: JsonObject | null
  /** The parameter object, or undefined if the policy has no parameters. */
  readonly source?: ApiObject | undefined
}

/** The object in the version that a policy's rules match, and the data for its expressions. */
interface Shown {
  readonly object: ApiObject | undefined
  readonly data: RequestData
}

class Mutating {
  object: ApiObject | undefined
  readonly #parts: MutationParts
  readonly #request: AdmissionRequest
  readonly #timeSlice = new TimeSlice()
  readonly #failures: Failure[] = []
  readonly #shown = new Map<ObjectForm, Shown>()

  constructor(parts: MutationParts, request: AdmissionRequest) {
    this.#parts = parts
    this.#request = request
    this.object = request.object
  }

  /** Applies a policy once for each parameter object. */
  async invoke(invocation: Invocation<MutatingPolicy>, rounds: Rounds<string>): Promise<void> {
    const { policy, binding, parameters } = invocation
    if (parameters.outcome === 'misconfigured') return this.#fail(invocation, parameters.why, 'Forbidden')
    const { conditions, variables, mutations } = await policy.compiled()
    for (const object of parameters.objects) {
      const inputs = { variables, params: object === undefined ? null : asJson(object), source: object }
      if (!(await this.#applies(invocation, conditions, inputs))) continue
      const key = JSON.stringify([policy.name, binding.name, object?.metadata.namespace, object?.metadata.name])
      if (this.#request.again && !rounds.wants(key)) continue
      const before = this.object
      for (const mutation of mutations) await this.#mutate(invocation, mutation, inputs)
      if (this.object !== before) rounds.changed()
      if (policy.settings.reinvocationPolicy === 'IfNeeded') rounds.ran(key)
    }
  }

  /**
   * Rejects the request if a policy failed. The error contains the message of the first failure, and lists all failures
   * as causes.
   */
  throwFailures(): void {
    const [first] = this.#failures
    if (first === undefined) return
    const { details } = refusal(this.#request, first.message)
    const causes = this.#failures.map(({ message }) => ({ message }))
    throw new ApiError(403, first.reason, first.message, { ...details, causes })
  }

  #fail({ policy, binding }: Invocation<MutatingPolicy>, why: string, reason: Failure['reason']): void {
    if (policy.settings.failurePolicy === 'Ignore') return
    const message = `policy '${policy.name}' with binding '${binding.name}' denied request: ${why}`
    this.#failures.push({ message, reason })
  }

  async #applies(
    invocation: Invocation<MutatingPolicy>,
    conditions: CommonExpressions['conditions'],
    inputs: Inputs,
  ): Promise<boolean> {
    if (conditions.length === 0) return true
    const evaluation = await this.#evaluation(invocation, inputs)
    const matched = await evaluateConditions(conditions, evaluation)
    if (matched.outcome === 'met') return true
    const { name, source: expression } = matched.condition
    const said = `condition ${name} ${matched.outcome === 'unmet' ? 'is false' : 'failed'}`
    const explain = policyExplainer(this.#request, { control: 'MutatingAdmissionPolicy', step: 'mutate', invocation })
    const hasEffect = matched.outcome === 'failed'
    explain?.({ said, expression, hasEffect, params: inputs.source, evaluation })
    const { operation } = this.#request
    const conditional = { name: invocation.policy.name, kind: 'policy', type: 'admit', operation } as const
    this.#parts.metrics.conditions(matched.outcome, conditional)
    if (matched.outcome === 'failed') this.#fail(invocation, matched.why, 'Invalid')
    return false
  }

  async #evaluation({ form }: Invocation<MutatingPolicy>, { variables, params }: Inputs): Promise<Evaluation> {
    const { object } = this
    let shown = this.#shown.get(form)
    if (shown?.object !== object || shown === undefined) {
      const data = shown ? await withObject(shown.data, form, object) : await this.#requestData(form)
      shown = { object, data }
      this.#shown.set(form, shown)
    }
    return new Evaluation(shown.data, { variables, params, timeSlice: this.#timeSlice })
  }

  #requestData(form: ObjectForm): Promise<RequestData> {
    return requestData({ ...this.#request, object: this.object }, form, this.#parts)
  }

  async #mutate(invocation: Invocation<MutatingPolicy>, mutation: CompiledMutation, inputs: Inputs): Promise<void> {
    const { object } = this
    if (object === undefined) return
    const began = performance.now()
    const { policy, binding } = invocation
    const record = (error: ErrorType) =>
      this.#parts.metrics.mutated({
        policy,
        binding,
        error,
        ms: performance.now() - began,
      })
    const explain = policyExplainer(this.#request, { control: 'MutatingAdmissionPolicy', step: 'mutate', invocation })
    const evaluation = await this.#evaluation(invocation, inputs)
    const end = (said: string, { hasEffect } = { hasEffect: true }) =>
      explain?.({ said, expression: mutation.source, hasEffect, params: inputs.source, evaluation })
    const outcome = await evaluation.evaluate(mutation)
    if ('error' in outcome) {
      end(outcome.error)
      record(outcome.errorType)
      return this.#fail(invocation, outcome.error, 'Invalid')
    }
    try {
      this.object = await this.#changed(invocation, mutation, { value: outcome.value, object })
      const hasChanged = this.object !== object
      end(hasChanged ? 'changed the object' : 'changed nothing', { hasEffect: hasChanged })
      record('no_error')
    } catch (error) {
      record('invalid_error')
      if (!(error instanceof MutationError)) throw error
      end(error.message)
      this.#fail(invocation, error.message, 'Invalid')
    }
  }

  /** Decodes and defaults the changed object as if a client had sent it. Returns the same object if nothing changed. */
  async #changed(
    { form }: Invocation<MutatingPolicy>,
    mutation: CompiledMutation,
    { value, object }: { readonly value: Value; readonly object: ApiObject },
  ): Promise<ApiObject> {
    const shown = asJson(await this.#timeSlice.run(form.show(object)))
    const result = await this.#timeSlice.run(applyMutationSliced(mutation, value, { form, object: shown }))
    if (result === shown) return object
    const next = keepNames(this.#request, object, await this.#timeSlice.run(readResultSliced(form, result, object)))
    return sameJson(asJson(next), asJson(object)) ? object : next
  }
}

function* readResultSliced(form: ObjectForm, result: JsonObject, base: ApiObject): Sliced<ApiObject> {
  try {
    return yield* form.read(result, base)
  } catch (error) {
    if (error instanceof ApiError) throw new MutationError(`the mutated object is invalid: ${error.message}`)
    throw error
  }
}

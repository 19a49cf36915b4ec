/** Evaluates one policy with one of its bindings for a request, and returns the resulting decisions. */
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { CompiledPolicy, CompiledValidation } from './compiled-policy.ts'
import { type ConditionsOutcome, errorText, evaluateConditions } from './conditions.ts'
import { Evaluation, type Outcome } from './evaluation.ts'
import type { ValidatingPolicy } from './families.ts'
import type { Parameters } from './parameters.ts'
import type { Binding } from './policies.ts'
import type { ErrorType } from './policy-metrics.ts'
import type { RequestData } from './request-data.ts'

/** A violation of a policy: the message and reason for the client. */
export interface Violation {
  readonly message: string
  readonly reason: string
}

/** The result of one expression that validates the request. */
export interface Decision {
  /** The violation, or undefined if the expression allows the request. */
  readonly violation: Violation | undefined
  /** Position of the expression in the policy, starting at 0. */
  readonly index: number
  readonly error: ErrorType
  readonly ms: number
  /**
   * Whether violations reject the request regardless of the binding's actions. As in Kubernetes, this is the case if
   * the policy is misconfigured or an audit annotation cannot be evaluated.
   */
  readonly isAlwaysDenied: boolean
}

export interface Judgement {
  readonly decisions: readonly Decision[]
  /** Values of the audit annotations by key. */
  readonly annotations: readonly (readonly [string, string])[]
  /** The results of the match conditions that prevented the evaluation of the policy. */
  readonly conditions: readonly ('unmet' | 'failed')[]
}

/** Returns the actions to take on a violation: those of the binding, or `Deny`. */
export function actionsFor({ isAlwaysDenied }: Decision, { actions }: Binding): readonly string[] {
  return isAlwaysDenied ? ['Deny'] : actions
}

/** Describes one evaluation of a policy in the explanation of a write. */
export interface EvaluationEnd {
  readonly said: string
  /** The expression that determined the decision. Undefined if the policy allowed the request. */
  readonly expression: string | undefined
  /** Whether the policy rejected or changed the object. */
  readonly hasEffect: boolean
  readonly params: ApiObject | undefined
  readonly evaluation: Evaluation
}

interface JudgedRequest {
  readonly data: RequestData
  readonly parameters: Parameters
  /** Lets other requests run between two expressions. Shared by all evaluations for a request. */
  readonly timeSlice: TimeSlice
  /** Called after each evaluation if the client requested an explanation. */
  readonly onEnd?: ((end: EvaluationEnd) => void) | undefined
}

/** Evaluates a validating policy, once for each parameter object. */
export async function evaluatePolicy(
  policy: ValidatingPolicy,
  { data, parameters, timeSlice, onEnd }: JudgedRequest,
): Promise<Judgement> {
  const judging = new Judging(policy)
  if (parameters.outcome === 'misconfigured') {
    judging.fail(parameters.why, { index: 0, error: 'invalid_error', ms: 0, isAlwaysDenied: true })
    return judging
  }
  const compiling = policy.compiled()
  const compiled = compiling instanceof Promise ? await compiling : compiling
  for (const object of parameters.objects) {
    const params = object === undefined ? null : asJson(object)
    const evaluation = new Evaluation(data, { variables: compiled.variables, params, timeSlice })
    const ended = await judging.judge(compiled, evaluation)
    onEnd?.({ ...ended, params: object, evaluation })
  }
  return judging
}

type Ended = Pick<EvaluationEnd, 'said' | 'expression' | 'hasEffect'>

type Circumstances = Omit<Decision, 'violation'>

class Judging implements Judgement {
  readonly decisions: Decision[] = []
  readonly annotations: (readonly [string, string])[] = []
  readonly conditions: ('unmet' | 'failed')[] = []
  readonly #ignoresFailures: boolean

  constructor({ settings }: ValidatingPolicy) {
    this.#ignoresFailures = settings.failurePolicy === 'Ignore'
  }

  /** Evaluates the policy once, and reports the first expression that does not allow the request. */
  async judge(compiled: CompiledPolicy, evaluation: Evaluation): Promise<Ended> {
    if (compiled.conditions.length > 0) {
      const matched = await evaluateConditions(compiled.conditions, evaluation)
      if (matched.outcome !== 'met') return this.#end(matched)
    }
    let ended = allowed
    // Await only promises. There may be many policies, and awaiting a value that is already available takes longer than
    // evaluating a short expression.
    for (let index = 0; index < compiled.validations.length; index++) {
      const validation = compiled.validations[index]!
      const began = performance.now()
      const evaluating = evaluation.evaluate(validation)
      const outcome = evaluating instanceof Promise ? await evaluating : evaluating
      const ms = performance.now() - began
      if ('value' in outcome && outcome.value === true) {
        this.decisions.push({ violation: undefined, index, error: 'no_error', ms, isAlwaysDenied: false })
        continue
      }
      const fault = await this.#reject(validation, evaluation, { outcome, index, ms })
      if (ended === allowed) ended = { said: fault, expression: validation.source, hasEffect: true }
    }
    for (const annotation of compiled.annotations) {
      const outcome = await evaluation.evaluate(annotation)
      if ('error' in outcome) {
        const circumstances = { index: 0, error: outcome.errorType, ms: 0, isAlwaysDenied: true }
        this.fail(errorText(annotation.source, outcome.error), circumstances)
      } else if (typeof outcome.value === 'string' && outcome.value.trim() !== '')
        this.annotations.push([annotation.name, shorten(outcome.value.trim(), maxAnnotation)])
    }
    return ended
  }

  /** Records that an expression could not be evaluated. This is a violation unless the policy ignores failures. */
  fail(message: string, circumstances: Circumstances): void {
    const violation = this.#ignoresFailures ? undefined : { message, reason: 'Invalid' }
    this.decisions.push({ ...circumstances, violation })
  }

  /** Records that the match conditions are not met. */
  #end(matched: Exclude<ConditionsOutcome, { outcome: 'met' }>): Ended {
    this.conditions.push(matched.outcome)
    const { name, source: expression } = matched.condition
    if (matched.outcome === 'unmet') return { said: `condition ${name} is false`, expression, hasEffect: false }
    this.fail(matched.why, { index: 0, error: 'invalid_error', ms: 0, isAlwaysDenied: false })
    return { said: matched.why, expression, hasEffect: true }
  }

  /** Records a validation that returned false or could not be evaluated. Returns the message of the violation. */
  async #reject(
    validation: CompiledValidation,
    evaluation: Evaluation,
    { outcome, index, ms }: { readonly outcome: Outcome; readonly index: number; readonly ms: number },
  ): Promise<string> {
    if ('error' in outcome) {
      const circumstances = { index, error: outcome.errorType, ms, isAlwaysDenied: false }
      this.fail(errorText(validation.source, outcome.error), circumstances)
      return outcome.error
    }
    const message = await messageOf(validation, evaluation)
    const violation = { message, reason: validation.reason }
    this.decisions.push({ violation, index, error: 'no_error', ms, isAlwaysDenied: false })
    return message
  }
}

const allowed: Ended = { said: 'allowed', expression: undefined, hasEffect: false }

const maxMessage = 5 * 1024
/** Maximum length of an audit annotation's value. Longer values are truncated. */
const maxAnnotation = 10 * 1024

/**
 * Returns the message of a violation. If the message expression fails or returns unusable text, uses the fixed message,
 * or else the text of the expression.
 */
async function messageOf(validation: CompiledValidation, evaluation: Evaluation): Promise<string> {
  const { message, messageExpression, source } = validation
  const fallback = message.trim() === '' ? `failed expression: ${source.trim()}` : message.trim()
  if (messageExpression === undefined) return fallback
  const outcome = await evaluation.evaluate(messageExpression)
  if ('error' in outcome || typeof outcome.value !== 'string') return fallback
  const text = outcome.value.trim()
  return text === '' || text.includes('\n') || text.length > maxMessage ? fallback : text
}

/** Evaluates one policy with one of its bindings for a request, and returns its decisions. */
import { asJson } from '../../../api/model/object.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CompiledPolicy, CompiledValidation } from './compiled-policy.ts'
import { type Evaluated, Evaluation } from './evaluation.ts'
import type { Parameters } from './parameters.ts'
import type { Policy } from './policies.ts'

/** A violated expression, or an expression that failed under the failure policy Fail. */
export interface Violation {
  readonly message: string
  readonly reason: string
  /** Position of the expression in the policy. */
  readonly index: number
}

export interface Judgement {
  readonly violations: readonly Violation[]
  /** Values of the audit annotations by key. */
  readonly annotations: readonly (readonly [string, string])[]
}

const nothing: Judgement = { violations: [], annotations: [] }

function failed(policy: Policy, message: string, index = 0): Violation[] {
  return policy.spec.failurePolicy === 'Ignore' ? [] : [{ message, reason: 'Invalid', index }]
}

interface JudgedRequest {
  readonly data: Evaluated
  readonly parameters: Parameters
  /** Shared by all policies that judge the request. */
  readonly timeSlice: TimeSlice
}

/** Evaluates the policy once per parameter object. */
export async function judgePolicy(policy: Policy, { data, parameters, timeSlice }: JudgedRequest): Promise<Judgement> {
  if (parameters.outcome === 'misconfigured') return { ...nothing, violations: failed(policy, parameters.why) }
  const compiled = await policy.compiled()
  const violations: Violation[] = []
  const annotations: (readonly [string, string])[] = []
  for (const object of parameters.objects) {
    const params = object === undefined ? null : asJson(object)
    const judged = await judgeOnce(policy, compiled, new Evaluation({ ...data, params }, { ...compiled, timeSlice }))
    violations.push(...judged.violations)
    annotations.push(...judged.annotations)
  }
  return { violations, annotations }
}

async function judgeOnce(policy: Policy, compiled: CompiledPolicy, evaluation: Evaluation): Promise<Judgement> {
  const unmet = await firstUnmet(policy, compiled, evaluation)
  if (unmet !== undefined) return { ...nothing, violations: unmet }
  const violations: Violation[] = []
  for (const [index, validation] of compiled.validations.entries()) {
    const outcome = await evaluation.evaluate(validation)
    if ('error' in outcome) violations.push(...failed(policy, errorText(validation.source, outcome.error), index))
    else if (outcome.value !== true) {
      const message = await messageOf(validation, evaluation)
      violations.push({ message, reason: validation.reason, index })
    }
  }
  const annotations: (readonly [string, string])[] = []
  for (const annotation of compiled.annotations) {
    const outcome = await evaluation.evaluate(annotation)
    if ('error' in outcome) violations.push(...failed(policy, errorText(annotation.source, outcome.error)))
    else if (typeof outcome.value === 'string') annotations.push([annotation.name, outcome.value])
  }
  return { violations, annotations }
}

/**
 * Returns the violations that end the evaluation: none for a condition that is false. Undefined if all conditions hold.
 * A false condition takes precedence over one that fails.
 */
async function firstUnmet(
  policy: Policy,
  { conditions }: CompiledPolicy,
  evaluation: Evaluation,
): Promise<Violation[] | undefined> {
  let failure: Violation[] | undefined
  for (const condition of conditions) {
    const outcome = await evaluation.evaluate(condition)
    if ('error' in outcome) failure ??= failed(policy, errorText(condition.source, outcome.error))
    else if (outcome.value !== true) return []
  }
  return failure
}

function errorText(source: string, error: string): string {
  return `expression '${source}' resulted in error: ${error}`
}

const maxMessage = 5 * 1024

/** A message expression that fails or returns an unusable text falls back to the message or the expression. */
async function messageOf(validation: CompiledValidation, evaluation: Evaluation): Promise<string> {
  const { message, messageExpression, source } = validation
  const fallback = message.trim() === '' ? `failed expression: ${source.trim()}` : message.trim()
  if (messageExpression === undefined) return fallback
  const outcome = await evaluation.evaluate(messageExpression)
  if ('error' in outcome || typeof outcome.value !== 'string') return fallback
  const text = outcome.value.trim()
  return text === '' || text.includes('\n') || text.length > maxMessage ? fallback : text
}

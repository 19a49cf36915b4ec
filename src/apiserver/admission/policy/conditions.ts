/** Evaluates the match conditions of a policy or a webhook. */
import type { NamedExpression } from './compiled-policy.ts'
import type { Evaluation } from './evaluation.ts'

/**
 * The result of evaluating match conditions: `unmet` if at least one is false, or else `failed` if at least one cannot
 * be evaluated.
 */
export type ConditionsOutcome =
  | { readonly outcome: 'met' }
  | { readonly outcome: 'unmet'; readonly condition: NamedExpression }
  | { readonly outcome: 'failed'; readonly why: string; readonly condition: NamedExpression }

/** Evaluates match conditions. If one condition is false and another condition fails, the outcome is `unmet`. */
export async function evaluateConditions(
  conditions: readonly NamedExpression[],
  evaluation: Evaluation,
): Promise<ConditionsOutcome> {
  const failures: string[] = []
  let failed: NamedExpression | undefined
  for (const condition of conditions) {
    const outcome = await evaluation.evaluate(condition)
    if ('error' in outcome) {
      failed ??= condition
      failures.push(errorText(condition.source, outcome.error))
    } else if (outcome.value !== true) return { outcome: 'unmet', condition }
  }
  if (failed === undefined) return { outcome: 'met' }
  return {
    outcome: 'failed',
    condition: failed,
    why: failures.length === 1 ? failures[0]! : `[${failures.join(', ')}]`,
  }
}

/** Returns the error message for an expression that could not be evaluated. */
export function errorText(source: string, error: string): string {
  return `expression '${source}' resulted in error: ${error}`
}

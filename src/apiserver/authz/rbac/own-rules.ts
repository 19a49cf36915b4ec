/**
 * Explains a decision by the rules that a user may read about themselves (SelfSubjectRulesReview). Users who lack the
 * right to create `accessexplanations` still learn which of their own rules come nearest, without roles and bindings.
 */
import type { PathAttributes, ResourceAttributes } from '../authorizer.ts'
import { lacking, smallestRule } from './explain.ts'
import { type PolicyRule, ruleOf } from './rule.ts'

/** The status of a SelfSubjectRulesReview. */
export interface OwnRules {
  readonly resourceRules?: readonly PolicyRule[]
  readonly nonResourceRules?: readonly PolicyRule[]
}

export interface OwnRulesExplanation {
  /** Rules that lack the fewest parts of the action, nearest first. */
  readonly nearRules: readonly { readonly rule: PolicyRule; readonly lacks: readonly string[] }[]
  readonly smallestRule: PolicyRule
}

const maxNear = 10

/** Which of the user's own rules come nearest to a denied action, and the smallest rule that would allow it. */
export function explainByOwnRules(
  attributes: ResourceAttributes | PathAttributes,
  { resourceRules = [], nonResourceRules = [] }: OwnRules,
): OwnRulesExplanation {
  const nearRules = (attributes.resource ? resourceRules : nonResourceRules)
    .flatMap((rule) => {
      const lacks = lacking(ruleOf(rule), attributes)
      // A rule that lacks nothing applies in another namespace.
      return lacks === undefined ? [] : [{ rule, lacks: lacks.length === 0 ? ['namespace'] : lacks }]
    })
    .sort((a, b) => a.lacks.length - b.lacks.length)
  return { nearRules: nearRules.slice(0, maxNear), smallestRule: smallestRule(attributes) }
}

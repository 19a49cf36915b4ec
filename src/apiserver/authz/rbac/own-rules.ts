/**
 * Explains a decision with the rules that users may list about themselves (SelfSubjectRulesReview). Users without
 * permission to create `accessexplanations` can still find out which of their rules come closest. The explanation does
 * not reveal roles and bindings.
 */
import type { PathAttributes, ResourceAttributes } from '../authorizer.ts'
import { lacking, smallestRule } from './explain.ts'
import { type PolicyRule, ruleOf } from './rule.ts'

/** Status of a SelfSubjectRulesReview. */
export interface OwnRules {
  readonly resourceRules?: readonly PolicyRule[]
  readonly nonResourceRules?: readonly PolicyRule[]
}

export interface OwnRulesExplanation {
  /** Rules that come closest to allowing the action, closest first. */
  readonly nearRules: readonly { readonly rule: PolicyRule; readonly lacks: readonly string[] }[]
  readonly smallestRule: PolicyRule
}

const maxNear = 10

/** Returns the user's own rules that are closest to a denied action, and the smallest rule that would allow it. */
export function explainByOwnRules(
  attributes: ResourceAttributes | PathAttributes,
  { resourceRules = [], nonResourceRules = [] }: OwnRules,
): OwnRulesExplanation {
  const nearRules = (attributes.resource ? resourceRules : nonResourceRules)
    .flatMap((rule) => {
      const lacks = lacking(ruleOf(rule), attributes)
      // A rule that lacks nothing applies only in another namespace, because otherwise the action would have been
      // allowed.
      return lacks === undefined ? [] : [{ rule, lacks: lacks.length === 0 ? ['namespace'] : lacks }]
    })
    .sort((a, b) => a.lacks.length - b.lacks.length)
  return { nearRules: nearRules.slice(0, maxNear), smallestRule: smallestRule(attributes) }
}

/**
 * Decides whether a user's rules cover the rules that the user wants to grant.
 *
 * Every single permission of a rule (one verb on one resource of one group with one name) must be in one of the user's
 * rules. The number of single permissions is the product of the lengths of the lists. Single permissions are therefore
 * checked only if no rule covers several of them at once. The search yields to other requests and stops at a limit, in
 * which case the decision remains open.
 */
import { HeldRules, matchesValue, type Part } from './held-rules.ts'
import { type PolicyRule, type Rule, ruleOf } from './rule.ts'

/**
 * Maximum amount of work, which takes about a hundred milliseconds. Checking 2,000 rules against 10,000 rules takes
 * about a hundredth of this maximum.
 */
const maxSteps = 3_000_000
const stepsBetweenTurns = 2000

export interface Coverage {
  /** Rules that the user does not have, up to the requested number. */
  readonly uncovered: readonly PolicyRule[]
  /** Whether the result is certain. False if the search was stopped because it took too much work. */
  readonly decided: boolean
}

/** Searches for uncovered rules until it has found `maxMissing` of them. */
export function* coverage(
  userRules: readonly Rule[],
  rulesToGrant: readonly PolicyRule[],
  maxMissing: number,
): Generator<void, Coverage> {
  const effort = new Effort(maxSteps)
  const rules = new HeldRules(userRules, (steps) => effort.spend(steps))
  const uncovered: PolicyRule[] = []
  for (const stored of rulesToGrant) {
    const rule = ruleOf(stored)
    const isCovered = (yield* coversResources(rules, rule, effort)) && (yield* coversPaths(rules, rule, effort))
    if (effort.isOver) return { uncovered, decided: false }
    if (!isCovered) uncovered.push(stored)
    if (uncovered.length === maxMissing) break
  }
  return { uncovered, decided: true }
}

class Effort {
  #remainingSteps: number
  #sinceTurn = 0

  constructor(steps: number) {
    this.#remainingSteps = steps
  }

  get isOver(): boolean {
    return this.#remainingSteps < 0
  }

  spend(steps: number): void {
    this.#remainingSteps -= steps
    this.#sinceTurn += steps
  }

  /** Whether it is time to let other requests run. */
  get isTurn(): boolean {
    if (this.#sinceTurn < stepsBetweenTurns) return false
    this.#sinceTurn = 0
    return true
  }
}

/** The lists in a rule, in the order in which the search splits them. The most selective list comes first. */
const parts: readonly Part[] = ['resources', 'groups', 'names', 'verbs']

function* coversResources(userRules: HeldRules, rule: Rule, effort: Effort): Generator<void, boolean> {
  const { apiGroups = [], resources = [], verbs = [] } = rule.stored
  // A rule with an empty list grants nothing, so there is nothing to cover.
  if (apiGroups.length === 0 || resources.length === 0 || verbs.length === 0) return true
  return yield* coversFrom(userRules, rule, { at: 0, effort })
}

/**
 * Checks the parts of the rule from index `at` on. `userRules` contains only those rules of the user that cover its
 * earlier parts. The result is meaningless once the work limit is reached.
 */
function* coversFrom(
  userRules: HeldRules,
  rule: Rule,
  { at, effort }: { at: number; effort: Effort },
): Generator<void, boolean> {
  effort.spend(1)
  if (effort.isTurn) yield
  if (effort.isOver || userRules.rules.length === 0) return false
  const rest = parts.slice(at)
  if (coversAtOnce(userRules, rule, { rest, effort })) return true
  const [part] = rest
  if (part === undefined) return false
  // No single rule covers the whole list, so check each of its values.
  for (const value of rule[part] ?? [undefined])
    if (!(yield* coversFrom(userRules.having(part, value), rule, { at: at + 1, effort }))) return false
  return true
}

/** Whether a single one of the user's rules covers all values in these lists. */
function coversAtOnce(
  userRules: HeldRules,
  rule: Rule,
  { rest, effort }: { rest: readonly Part[]; effort: Effort },
): boolean {
  const likely = rest.reduce((rules, part) => rules.having(part, rule[part]?.values().next().value), userRules)
  return likely.rules.some((own) => !effort.isOver && rest.every((part) => coversPart(own, rule, { part, effort })))
}

function coversPart(own: Rule, rule: Rule, { part, effort }: { part: Part; effort: Effort }): boolean {
  const has = own[part]
  const grantedValues = rule[part]
  effort.spend(1)
  if (has === undefined) return true
  if (grantedValues === undefined) return false
  for (const value of grantedValues) {
    effort.spend(1)
    if (effort.isOver || !matchesValue(own, part, value)) return false
  }
  return true
}

function* coversPaths(userRules: HeldRules, rule: Rule, effort: Effort): Generator<void, boolean> {
  const { nonResourceURLs = [], verbs = [] } = rule.stored
  const grantedVerbs = [...new Set(verbs)]
  for (const path of nonResourceURLs) {
    const having = userRules.allowingPath(path)
    effort.spend(having.length * grantedVerbs.length)
    if (effort.isTurn) yield
    if (effort.isOver) return false
    if (!grantedVerbs.every((verb) => having.some((own) => own.verbs === undefined || own.verbs.has(verb))))
      return false
  }
  return true
}

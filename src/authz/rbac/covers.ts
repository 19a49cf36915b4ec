/**
 * Whether the rules that somebody has cover a rule that they would give: nobody gives what they do not have.
 *
 * Every single right of the rule (one verb on one resource of one group, of one name) must be in one of theirs. The
 * single rights are as many as the product of the lists, so they are looked at only where no rule covers more at once;
 * and of a rule so wide and so split up that this takes too long it is said that it is not covered.
 */
import { allowsPath, type PolicyRule, type Rule, ruleOf } from './rule.ts'

const maxSteps = 500_000

/** Those of the rules that are not covered. */
export function uncovered(held: readonly Rule[], given: readonly PolicyRule[]): PolicyRule[] {
  const budget = { left: maxSteps }
  return given.filter((stored) => {
    const rule = ruleOf(stored)
    return !(coversResources(held, rule, budget) && coversPaths(held, rule, budget))
  })
}

interface Budget {
  left: number
}

/** The lists of a rule, in the order in which it is taken apart. */
type Part = 'groups' | 'resources' | 'verbs' | 'names'
const parts: readonly Part[] = ['groups', 'resources', 'verbs', 'names']

function coversResources(held: readonly Rule[], rule: Rule, budget: Budget): boolean {
  const { apiGroups = [], resources = [] } = rule.stored
  if (apiGroups.length === 0 || resources.length === 0) return true
  return coversFrom(held, rule, { at: 0, budget })
}

/** `held` all have what was taken apart before `at`. */
function coversFrom(held: readonly Rule[], rule: Rule, { at, budget }: { at: number; budget: Budget }): boolean {
  budget.left -= held.length + 1
  if (budget.left < 0 || held.length === 0) return false
  const rest = parts.slice(at)
  if (held.some((own) => rest.every((part) => coversPart(own, rule, { part, budget })))) return true
  const part = parts[at]
  if (part === undefined) return false
  const words = rule[part]
  // All words at once are only covered by a rule that has them all.
  if (words === undefined)
    return coversFrom(
      held.filter((own) => own[part] === undefined),
      rule,
      { at: at + 1, budget },
    )
  for (const word of words) {
    const having = held.filter((own) => hasWord(own, part, word))
    if (!coversFrom(having, rule, { at: at + 1, budget })) return false
  }
  return true
}

function coversPart(own: Rule, rule: Rule, { part, budget }: { part: Part; budget: Budget }): boolean {
  const [has, wanted] = [own[part], rule[part]]
  if (has === undefined) return true
  if (wanted === undefined) return false
  for (const word of wanted) if (budget.left-- < 0 || !hasWord(own, part, word)) return false
  return true
}

function hasWord(own: Rule, part: Part, word: string): boolean {
  const words = own[part]
  if (words === undefined || words.has(word)) return true
  return part === 'resources' && word.includes('/') && words.has(`*${word.slice(word.indexOf('/'))}`)
}

function coversPaths(held: readonly Rule[], rule: Rule, budget: Budget): boolean {
  const { nonResourceURLs = [], verbs = [] } = rule.stored
  const wanted = [...new Set(verbs)]
  return nonResourceURLs.every((path) => {
    const having = held.filter((own) => own.paths === undefined || own.paths.has(path) || allowsPath(own, path))
    budget.left -= held.length + having.length * wanted.length
    if (budget.left < 0) return false
    return wanted.every((verb) => having.some((own) => own.verbs === undefined || own.verbs.has(verb)))
  })
}

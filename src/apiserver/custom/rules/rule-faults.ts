/**
 * Validates the CEL rules of a definition: their form, whether they compile, and their estimated cost, per rule and for
 * the whole schema. The limits and texts are those of Kubernetes 1.25.
 */

import { isObject, type Json } from '../../../api/json/json.ts'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notJudged,
  required,
} from '../../../api/model/field-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { loadRulePatterns } from '../schema/patterns.ts'
import { validationFaults } from './object-validations.ts'
import { type CompiledRule, hasRules, type Rule, type RuleNode, readRules } from './rule-tree.ts'
import { maxOccurrences } from './rule-types.ts'

const maxRuleCost = 10_000_000
const maxSchemaCost = 100_000_000
/** Maximum number of rules to name if the total cost is too high. */
const maxNamed = 4

/** Compiles and validates the rules of an otherwise valid schema. `path` is the path of the schema. */
export async function judgeRules(
  schema: Json,
  { extensionPrefix: prefix }: Vendor,
  { path, timeSlice }: { readonly path: FieldPath; readonly timeSlice: TimeSlice },
): Promise<FieldError[]> {
  if (!isObject(schema) || !hasRules(schema, prefix)) return []
  const reader = { prefix, readPattern: await loadRulePatterns() }
  const root = await timeSlice.run(readRules(schema, reader, path))
  if (root === undefined) return []
  const faults = ruleFaults(root, prefix)
  return faults.length > 0 ? faults : await timeSlice.run(defaultFaults(root))
}

/** Validates the defaults of a schema with its own rules. */
function* defaultFaults(node: RuleNode): Generator<void, FieldError[]> {
  const { default: value, path } = node
  const faults: FieldError[] = []
  if (value !== undefined && value !== null)
    faults.push(...(yield* validationFaults(node, { value, previous: undefined, path: child(path, 'default') })))
  for (const below of [...node.members.values(), node.values, node.items])
    if (below !== undefined) faults.push(...(yield* defaultFaults(below)))
  return faults
}

function ruleFaults(root: RuleNode, prefix: string): FieldError[] {
  const judging: Judging = { prefix, faults: [], costs: [] }
  judge(root, judging, { occurrences: 1, uncorrelated: undefined })
  return [...judging.faults, ...totalFaults(judging, root.path)]
}

interface Judging {
  readonly prefix: string
  readonly faults: FieldError[]
  readonly costs: { readonly path: FieldPath; readonly cost: number }[]
}

interface Around {
  /** Maximum number of occurrences of the value in an object; undefined if only the request size limits it. */
  readonly occurrences: number | undefined
  /** Path of an enclosing list or map whose elements cannot be matched with previous ones, if any. */
  readonly uncorrelated: FieldPath | undefined
}

function judge(node: RuleNode, judging: Judging, around: Around): void {
  const { path, members, values, items, limit, correlation } = node
  if (node.declared === undefined && node.rules.length > 0) judging.faults.push(unseenFault(node, judging))
  for (const [i, rule] of node.declared === undefined ? [] : node.rules.entries()) {
    const place = at(child(path, `${judging.prefix}validations`), i)
    const faults = formFaults(rule, place)
    judging.faults.push(...faults)
    if (faults.length === 0) judgeRule({ node, rule, place }, judging, around)
  }
  const below = { ...around, uncorrelated: around.uncorrelated ?? (correlation === 'none' ? path : undefined) }
  for (const member of members.values()) judge(member, judging, below)
  const each = { ...below, occurrences: within(around, limit) }
  if (values) judge(values, judging, each)
  if (items) judge(items, judging, each)
}

/** Returns the error for a rule on a schema without a type that CEL supports. */
function unseenFault({ path, type }: RuleNode, { prefix }: Judging): FieldError {
  const about = `type: '${type}' ${prefix}preserve-unknown-fields: '${type === ''}'`
  return notJudged(
    child(path, `${prefix}validations`),
    `rule declared on schema that does not support validation rules ${about}`,
  )
}

function within({ occurrences }: Around, limit: number | undefined): number | undefined {
  return occurrences === undefined || limit === undefined ? undefined : occurrences * limit
}

function formFaults({ rule, message }: Rule, place: FieldPath): FieldError[] {
  const trimmedMessage = message.trim()
  const faults = rule.trim() === '' ? [required(child(place, 'rule'), 'rule is not specified')] : []
  const atMessage = child(place, 'message')
  if (message !== '' && trimmedMessage === '')
    faults.push(invalid(atMessage, message, 'message must be non-empty if specified'))
  else if (trimmedMessage.includes('\n'))
    faults.push(invalid(atMessage, message, 'message must not contain line breaks'))
  else if (rule.trim().includes('\n') && trimmedMessage === '')
    faults.push(required(atMessage, 'message must be specified if rule contains line breaks'))
  return faults
}

interface RuleAtNode {
  readonly node: RuleNode
  readonly rule: CompiledRule
  readonly place: FieldPath
}

function judgeRule({ node, rule, place }: RuleAtNode, judging: Judging, around: Around): void {
  const { compiled, rule: text, message } = rule
  const path = child(place, 'rule')
  if (compiled.outcome === 'invalid') {
    judging.faults.push(invalidRule(path, { rule: text, message }, compiled.why))
    return
  }
  const { maxCost, used } = compiled.program
  const occurrences = around.occurrences ?? maxOccurrences(node.declared!.minBytes)
  const cost = maxCost === 0 || occurrences === 0 ? 0 : maxCost * occurrences
  judging.costs.push({ path, cost })
  if (cost > maxRuleCost) judging.faults.push(forbidden(path, excess('estimated rule cost', cost / maxRuleCost)))
  if (!used.has('oldSelf') || around.uncorrelated === undefined) return
  const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${around.uncorrelated}`
  judging.faults.push(invalid(path, text, why))
}

/** Shows the rule as a Go struct, as Kubernetes does. */
function invalidRule(path: FieldPath, { rule, message }: Rule, why: string): FieldError {
  const shown = `apiextensions.ValidationRule{Rule:${JSON.stringify(rule)}, Message:${JSON.stringify(message)}}`
  return { fault: 'FieldValueInvalid', path, text: `Invalid value: ${shown.slice(0, maxShown)}: ${why}` }
}

const maxShown = 1000

function totalFaults({ prefix, costs }: Judging, path: FieldPath): FieldError[] {
  const total = costs.reduce((sum, { cost }) => sum + cost, 0)
  if (total <= maxSchemaCost) return []
  const expensiveRules = costs
    .filter(({ cost }) => cost >= maxSchemaCost / 100)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, maxNamed)
  const share = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
  const what = `${prefix}validations estimated rule cost total for entire OpenAPIv3 schema`
  return [
    ...expensiveRules.map(({ path: place }) => forbidden(place, share)),
    forbidden(path, excess(what, total / maxSchemaCost)),
  ]
}

const advice =
  'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'

function excess(what: string, factor: number): string {
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${shown} (${advice})`
}

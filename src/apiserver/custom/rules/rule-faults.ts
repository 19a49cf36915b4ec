/**
 * Validates the CEL rules in a definition. Checks their fields, whether they compile, and their estimated cost, both
 * per rule and for the whole schema. The limits and error texts are the same as in Kubernetes 1.25.
 */

import { loadPatternEngine } from '../../../api/cel/pattern-engine.ts'
import type { Compiled } from '../../../api/cel/program.ts'
import { maxOccurrences } from '../../../api/cel/schema-types.ts'
import { isObject, type Json } from '../../../api/json/json.ts'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notJudged,
} from '../../../api/model/field-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { minorOf } from '../../../api/versions/emulated-version.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { validationFaults } from './object-validations.ts'
import { formFaults, type Rule } from './rule-form.ts'
import { type CompiledRule, hasRules, type RuleNode, readRules } from './rule-tree.ts'

const maxRuleCost = 10_000_000
const maxSchemaCost = 100_000_000
/** Maximum number of rules in an error about the total cost. */
const maxNamed = 4

interface RulesContext {
  readonly path: FieldPath
  readonly timeSlice: TimeSlice
  readonly emulation: Emulation
  /** Expressions that are already stored. They may use functions of any version. */
  readonly stored: ReadonlySet<string>
}

/** Returns all strings in a schema that may be rule expressions. */
export function expressionsIn(schema: Json | undefined, prefix: string): Set<string> {
  const expressions = new Set<string>()
  const queue: (Json | undefined)[] = [schema]
  for (let next = queue.pop(); next !== undefined || queue.length > 0; next = queue.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const [name, value] of Object.entries(next)) {
      if (name !== `${prefix}validations` || !Array.isArray(value)) queue.push(value)
      else
        for (const rule of value.filter(isObject))
          for (const text of [rule.rule, rule.messageExpression]) if (typeof text === 'string') expressions.add(text)
    }
  }
  return expressions
}

/** Compiles and validates the rules of an otherwise valid schema. `path` is the path of the schema. */
export async function judgeRules(
  schema: Json,
  { extensionPrefix: prefix }: Vendor,
  { path, timeSlice, emulation, stored }: RulesContext,
): Promise<FieldError[]> {
  if (!isObject(schema) || !hasRules(schema, prefix)) return []
  // Allow only functions of the previous version in new expressions, so that a downgrade is possible.
  const versionFor = (expression: string) => (stored.has(expression) ? undefined : minorOf(emulation.version) - 1)
  const reader = { prefix, emulation, versionFor, readPattern: await loadPatternEngine() }
  const root = await timeSlice.run(readRules(schema, reader, path))
  if (root === undefined) return []
  const faults = ruleFaults(root, prefix)
  return faults.length > 0 ? faults : await timeSlice.run(defaultFaults(root, emulation))
}

/** Evaluates the CEL rules of a schema on its own defaults. */
function* defaultFaults(node: RuleNode, { version }: Pick<Emulation, 'version'>): Generator<void, FieldError[]> {
  const { default: value, path } = node
  const faults: FieldError[] = []
  if (value !== undefined && value !== null)
    faults.push(
      ...(yield* validationFaults(node, { value, previous: undefined, path: child(path, 'default') }, { version })),
    )
  for (const below of [...node.members.values(), node.values, node.items])
    if (below !== undefined) faults.push(...(yield* defaultFaults(below, { version })))
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
  /** Maximum number of occurrences of the value in an object. Undefined if only the request size limits the number. */
  readonly occurrences: number | undefined
  /**
   * Path of the innermost enclosing list or map whose elements have no old values to compare with. Undefined if there
   * is none.
   */
  readonly uncorrelated: FieldPath | undefined
}

function judge(node: RuleNode, judging: Judging, around: Around): void {
  const { path, members, values, items, limit, correlation } = node
  if (node.declared === undefined && node.rules.length > 0) judging.faults.push(unseenFault(node, judging))
  for (const [i, rule] of node.declared === undefined ? [] : node.rules.entries()) {
    const place = at(child(path, `${judging.prefix}validations`), i)
    const faults = formFaults(rule, node.schema, place)
    judging.faults.push(...faults)
    if (faults.length === 0) judgeRule({ node, rule, place }, judging, around)
  }
  const below = { ...around, uncorrelated: around.uncorrelated ?? (correlation === 'none' ? path : undefined) }
  // Fields of an atomic object still have old values, because they are matched by name.
  for (const member of members.values()) judge(member, judging, around)
  const each = { ...below, occurrences: within(around, limit) }
  if (values) judge(values, judging, each)
  if (items) judge(items, judging, each)
}

/** Returns the error for a rule on values that CEL cannot represent. */
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

interface RuleAtNode {
  readonly node: RuleNode
  readonly rule: CompiledRule
  readonly place: FieldPath
}

function judgeRule({ node, rule, place }: RuleAtNode, judging: Judging, around: Around): void {
  const { compiled, messageProgram, rule: text, optionalOldSelf } = rule
  const path = child(place, 'rule')
  const occurrences = around.occurrences ?? maxOccurrences(node.declared!.minBytes)
  judgeProgram(compiled, { rule, path, occurrences, what: 'rule' }, judging)
  if (messageProgram !== undefined) {
    const messagePath = child(place, 'messageExpression')
    judgeProgram(messageProgram, { rule, path: messagePath, occurrences, what: 'messageExpression' }, judging)
  }
  const usesOld = compiled.outcome === 'program' && compiled.program.used.has('oldSelf')
  if (optionalOldSelf !== undefined && !usesOld) {
    const unused = 'may not be set if oldSelf is not used in rule'
    judging.faults.push(invalid(child(place, 'optionalOldSelf'), optionalOldSelf, unused))
  }
  if (!usesOld || optionalOldSelf || around.uncorrelated === undefined) return
  const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${around.uncorrelated}`
  judging.faults.push(invalid(path, text, why))
}

interface JudgedProgram {
  readonly rule: Rule
  readonly path: FieldPath
  /** Maximum number of evaluations of the rule per object. */
  readonly occurrences: number
  readonly what: 'rule' | 'messageExpression'
}

function judgeProgram(compiled: Compiled, { rule, path, occurrences, what }: JudgedProgram, judging: Judging): void {
  if (compiled.outcome === 'invalid') {
    judging.faults.push(invalidRule(path, rule, what === 'rule' ? compiled.why : `${what}: ${compiled.why}`))
    return
  }
  const { maxCost } = compiled.program
  const cost = maxCost === 0 || occurrences === 0 ? 0 : maxCost * occurrences
  judging.costs.push({ path, cost })
  if (cost > maxRuleCost) judging.faults.push(forbidden(path, excess(`estimated ${what} cost`, cost / maxRuleCost)))
}

/** Returns the error for an invalid rule. Like Kubernetes, it prints the rule as a Go struct. */
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

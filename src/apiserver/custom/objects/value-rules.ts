/**
 * Validates the value constraints of a user's schema: limits, enums, patterns, formats and required members. Each
 * keyword becomes a rule, and a schema combines the rules of its keywords. The logic keywords (allOf, anyOf, oneOf,
 * not) are in value-logic.ts.
 *
 * A rule ignores values of types to which its keyword does not apply. For example, `minLength` ignores numbers. The
 * error texts are the same as in kube-apiserver 1.23, because programs match them.
 */

import { isObject, type Json, type JsonObject, own, sameJson } from '../../../api/json/json.ts'
import {
  child,
  type FieldError,
  type FieldFault,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../api/model/field-error.ts'
import { isSince, type RuleContext } from '../../../api/schema/context.ts'
import type { Effort } from '../../../api/schema/effort.ts'
import { isInt64 } from '../../../api/schema/matches-type.ts'
import { hasFormat, knownFormat } from '../schema/formats.ts'
import type { CompilePattern } from '../schema/patterns.ts'
import { mayTake } from './effort.ts'

export type ValueRule = (value: Json, path: FieldPath, context: RuleContext, effort: Effort) => FieldError[]

/** Checks the type of a value, but nothing inside it. */
export type TypeRule = (value: Json, path: FieldPath, context: RuleContext) => FieldError[]

/** The arguments of a rule: the value to validate, its path and the context. */
export type About = Parameters<ValueRule>

/** Creates the rule for a keyword. `schema` is the schema that contains the keyword. */
type MakeRule = (wanted: Json, schema: JsonObject, tools: RuleTools) => ValueRule

export interface RuleTools {
  readonly compile: CompilePattern
  /** The prefix of vendor extensions, `x-orch-`. */
  readonly prefix: string
}

/** Whether errors have a specific reason and the path of the list element, as in Kubernetes since 1.25. */
export function isPrecise(context: RuleContext): boolean {
  return isSince('1.25', context)
}

/** The path in errors that name no field, as kube-apiserver prints a nil path. */
export const nowhere: FieldPath = '<nil>'

/**
 * A keyword's requirement: the text for the error message, and the error reason for versions that report a specific
 * reason.
 */
interface Demand {
  readonly rule: string
  readonly precise?: FieldFault
}

interface Place {
  readonly path: FieldPath
  readonly context: RuleContext
}

/**
 * Returns the error for an unmet requirement. An error with the same text is reported only once, because all elements
 * of a list can have the same path.
 */
function broken({ path, context }: Place, value: Json, { rule, precise }: Demand): FieldError {
  const text = `${path} in body ${rule}`
  const fault = precise !== undefined && isPrecise(context) ? { fault: precise } : undefined
  return { ...invalid(path, value, text), ...fault, once: text }
}

const ofNumbers =
  (test: (value: number | bigint) => boolean, rule: string): ValueRule =>
  (value, path, context) =>
    (typeof value !== 'number' && typeof value !== 'bigint') || test(value)
      ? []
      : [broken({ path, context }, value, { rule })]

const ofStrings =
  (test: (value: string) => boolean, demand: Demand): ValueRule =>
  (value, path, context) =>
    typeof value !== 'string' || test(value) ? [] : [broken({ path, context }, value, demand)]

const ofCounts =
  (test: (count: number) => boolean, demand: Demand): ValueRule =>
  (value, path, context) => {
    const found = items(value)
    return found === undefined || test(found) ? [] : [broken({ path, context }, found, demand)]
  }

/** As in kube-apiserver, these errors contain the limit, but not the actual number of members. */
const ofMembers =
  (limit: Json, test: (count: number) => boolean, demand: Demand): ValueRule =>
  (value, path, context) => {
    const found = members(value)
    return found === undefined || test(found) ? [] : [broken({ path, context }, limit, demand)]
  }

const items = (value: Json) => (Array.isArray(value) ? value.length : undefined)
const members = (value: Json) => (isObject(value) ? Object.keys(value).length : undefined)

// Whether a string has at most the given number of characters. Some characters take two UTF-16 units, so the number of
// characters is between half of `text.length` and `text.length`.
const hasAtMost = (text: string, limit: number) =>
  text.length <= limit || (text.length <= 2 * limit && [...text].length <= limit)
const hasAtLeast = (text: string, limit: number) =>
  text.length >= 2 * limit || (text.length >= limit && [...text].length >= limit)

/** Keywords that are checked even if other keywords have failed. */
const keywords: { readonly [keyword: string]: MakeRule } = {
  enum: (wanted) => {
    const texts = new Set((wanted as Json[]).filter((item) => typeof item === 'string'))
    const others = (wanted as Json[]).filter((item) => typeof item !== 'string' && item !== null)
    const shown = (wanted as Json[]).map((item) => (typeof item === 'string' ? item : JSON.stringify(item, asText)))
    return (value, path, _, effort) => {
      if (texts.has(value as string)) return []
      if (others.length > 0 && !mayTake(effort, others.length)) return [tooMuch(path)]
      if (others.some((item) => sameJson(item, value))) return []
      return [{ ...notSupported(path, value, shown), once: `${path} is none of ${shown.length}` }]
    }
  },
  maximum: (wanted, { exclusiveMaximum }) =>
    exclusiveMaximum === true
      ? ofNumbers((value) => value < (wanted as number), `should be less than ${wanted}`)
      : ofNumbers((value) => value <= (wanted as number), `should be less than or equal to ${wanted}`),
  minimum: (wanted, { exclusiveMinimum }) =>
    exclusiveMinimum === true
      ? ofNumbers((value) => value > (wanted as number), `should be greater than ${wanted}`)
      : ofNumbers((value) => value >= (wanted as number), `should be greater than or equal to ${wanted}`),
  multipleOf: (wanted) =>
    ofNumbers((value) => Number.isInteger(Number(value) / Number(wanted)), `should be a multiple of ${wanted}`),
  maxItems: (wanted) =>
    ofCounts((count) => count <= Number(wanted), {
      rule: `should have at most ${wanted} items`,
      precise: 'FieldValueTooMany',
    }),
  minItems: (wanted) => ofCounts((count) => count >= Number(wanted), { rule: `should have at least ${wanted} items` }),
  format: (wanted, { type }) => {
    if (wanted === 'int32' && type === 'integer') return int32Rule
    const format = knownFormat(wanted)
    if (format === undefined) return () => []
    const rule = (value: string) => `must be of type ${wanted}: ${JSON.stringify(value)}`
    return (value, path, context) =>
      typeof value !== 'string' || knownFormat(wanted, context) === undefined || hasFormat(format, value)
        ? []
        : [broken({ path, context }, value, { rule: rule(value), precise: 'FieldValueTypeInvalid' })]
  },
}

/** Whether numbers must fit their format, such as int32. Kubernetes has checked this since 1.35. */
const checksNumbers = (context: RuleContext) => isSince('1.35', context)

function wrongNumber(path: FieldPath, format: string): FieldError {
  const text = `Checked value must be of type integer ${format} in ${path}`
  return { ...invalid(nowhere, '', text), once: text }
}

const int32Rule: ValueRule = (value, path, context) =>
  checksNumbers(context) && isInt64(value) && Number(value) !== (Number(value) | 0)
    ? [wrongNumber(path, 'with format int32')]
    : []

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

export function tooMuch(path: FieldPath): FieldError {
  return forbidden(
    path,
    'validation against the schema takes too long: reduce the size of the object or simplify the schema',
  )
}

/**
 * Keywords of objects. Before Kubernetes 1.25, only the first failure is reported. If there are too few or too many
 * members, missing members are therefore not reported.
 */
const memberKeywords: { readonly [keyword: string]: MakeRule } = {
  minProperties: (wanted) =>
    ofMembers(wanted, (count) => count >= Number(wanted), { rule: `should have at least ${wanted} properties` }),
  maxProperties: (wanted) =>
    ofMembers(wanted, (count) => count <= Number(wanted), {
      rule: `should have at most ${wanted} properties`,
      precise: 'FieldValueTooMany',
    }),
  required: (wanted) => (value, path) => {
    if (!isObject(value)) return []
    const missing = (wanted as string[]).filter((name) => own(value, name) === undefined)
    return missing.map((name) => ({ ...required(child(path, name)), once: `${child(path, name)} is required` }))
  },
}

/** Keywords of strings. Only the first failing rule is reported. */
const stringKeywords: { readonly [keyword: string]: MakeRule } = {
  maxLength: (wanted) =>
    ofStrings((value) => hasAtMost(value, Number(wanted)), {
      rule: `should be at most ${wanted} chars long`,
      precise: 'FieldValueTooLong',
    }),
  minLength: (wanted) =>
    ofStrings((value) => hasAtLeast(value, Number(wanted)), { rule: `should be at least ${wanted} chars long` }),
  pattern: (wanted, _, { compile }) => {
    const compiled = compile(String(wanted))
    if (compiled.outcome === 'refused') return () => []
    const { matches, size } = compiled
    const maxLength = Math.floor(maxMatchSteps / size)
    return (value, path, context, effort) => {
      if (typeof value !== 'string') return []
      if (value.length > maxLength) return [tooLong(path, maxLength)]
      if (!mayTake(effort, size * value.length)) return [tooMuch(path)]
      return matches(value) ? [] : [broken({ path, context }, value, { rule: `should match '${wanted}'` })]
    }
  },
}

/** Maximum number of steps of a match. A match cannot be interrupted, and a step takes up to 50 nanoseconds. */
const maxMatchSteps = 1_000_000

function tooLong(path: FieldPath, maxLength: number): FieldError {
  return forbidden(path, `must have at most ${maxLength} characters, because the schema specifies a pattern`)
}

/** Returns the rule for a schema's keywords, except logic keywords. Returns undefined if the schema has none. */
export function keywordRule(schema: JsonObject, tools: RuleTools): ValueRule | undefined {
  const rules = makeRules(keywords, schema, tools)
  const ofMembers = makeRules(memberKeywords, schema, tools)
  const all = (about: About) => ofMembers.flatMap((rule) => rule(...about))
  if (ofMembers.length > 0) rules.push((...about) => (isPrecise(about[2]) ? all(about) : firstFaults(ofMembers, about)))
  const ofText = makeRules(stringKeywords, schema, tools)
  if (ofText.length > 0) rules.push((...about) => firstFaults(ofText, about))
  return rules.length === 0 ? undefined : (...about) => rules.flatMap((rule) => rule(...about))
}

/**
 * Whether an object has too few or too many members. Before Kubernetes 1.25, the members of such an object are not
 * validated.
 */
export type MemberLimit = (value: Json, context: RuleContext) => boolean

export function memberLimit({ minProperties, maxProperties }: JsonObject): MemberLimit | undefined {
  if (minProperties == null && maxProperties == null) return undefined
  const min = Number(minProperties ?? 0)
  const max = Number(maxProperties ?? Number.POSITIVE_INFINITY)
  return (value, context) => {
    const count = members(value)
    return count !== undefined && (count < min || count > max) && !isPrecise(context)
  }
}

/**
 * Creates the rules of a schema's keywords. A plain loop is fastest, because most parts of a schema have none of these
 * keywords and a large schema has thousands of parts.
 */
function makeRules(table: { readonly [keyword: string]: MakeRule }, schema: JsonObject, tools: RuleTools): ValueRule[] {
  const rules: ValueRule[] = []
  for (const keyword in table) {
    const keywordValue = own(schema, keyword)
    if (keywordValue !== undefined && keywordValue !== null) rules.push(table[keyword]!(keywordValue, schema, tools))
  }
  return rules
}

function firstFaults(rules: readonly ValueRule[], about: About): FieldError[] {
  for (const rule of rules) {
    const faults = rule(...about)
    if (faults.length > 0) return faults
  }
  return []
}

/** Returns the allowed types as error messages list them. For an int-or-string, this is `integer,string`. */
function typesOf(schema: JsonObject, prefix: string): string[] {
  if (schema[`${prefix}int-or-string`] === true) return ['integer', 'string']
  return typeof schema.type === 'string' && schema.type !== '' ? [schema.type] : []
}

/**
 * Returns the rule for the type of a value. As in kube-apiserver, the rule depends on the format too. A non-numeric
 * schema that has a format accepts strings and lists, and errors for other values contain the format.
 */
export function typeRule(schema: JsonObject, { prefix }: Pick<RuleTools, 'prefix'>): TypeRule | undefined {
  const types = typesOf(schema, prefix)
  if (types.length === 0) return undefined
  const format = knownFormat(schema.format) === undefined ? undefined : String(schema.format)
  const isNumeric = types.includes('number') || types.includes('integer')
  // Do not capture `schema` in the closure, so that it can be garbage-collected.
  const isNullable = schema.nullable === true
  return (value, path, context) => {
    const actualType = jsonType(value)
    const place = { path, context }
    if (actualType === 'null') return isNullable ? [] : [wrongType(place, types.join(','), actualType)]
    if (types.includes(actualType) || (actualType === 'integer' && types.includes('number'))) return []
    const isFraction = actualType === 'number' && types.length === 1 && types[0] === 'integer'
    if (isFraction && checksNumbers(context))
      return [wrongType(place, 'integer', actualType), wrongNumber(path, '(default format)')]
    if (format === undefined) return [wrongType(place, types.join(','), actualType)]
    if (actualType === 'string' || actualType === 'array')
      return isNumeric ? [wrongType(place, types.join(','), actualType)] : []
    return [wrongType(place, format, numberFormats[actualType] ?? '')]
  }
}

const numberFormats: { readonly [type: string]: string } = { integer: 'int64', number: 'float64' }

function wrongType(place: Place, expectedType: string, actualType: string): FieldError {
  const rule = `must be of type ${expectedType}: ${JSON.stringify(actualType)}`
  return broken(place, actualType, { rule, precise: 'FieldValueTypeInvalid' })
}

function jsonType(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isInt64(value)) return 'integer'
  return typeof value === 'bigint' ? 'number' : typeof value
}

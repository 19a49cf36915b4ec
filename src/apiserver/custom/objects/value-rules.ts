/**
 * Validates the value constraints of a user's schema: limits, enums, patterns, formats and required members. Each
 * keyword becomes a rule, and a schema combines the rules of its keywords. The logic keywords (allOf, anyOf, oneOf,
 * not) are in value-logic.ts.
 *
 * A rule ignores values of types to which its keyword does not apply: `minLength` ignores numbers. The error texts are
 * those of kube-apiserver 1.23, because programs match them.
 */

import { isObject, type Json, type JsonObject, own, sameJson } from '../../../api/json/json.ts'
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  typeInvalid,
} from '../../../api/model/field-error.ts'
import type { Effort } from '../../../api/schema/effort.ts'
import { isInt64 } from '../../../api/schema/matches-type.ts'
import { hasFormat, knownFormat } from '../schema/formats.ts'
import type { CompilePattern } from '../schema/patterns.ts'
import { mayTake } from './effort.ts'

export type ValueRule = (value: Json, path: FieldPath, context: unknown, effort: Effort) => FieldError[]

/** Validates only the type of a value. */
export type TypeRule = (value: Json, path: FieldPath) => FieldError[]

/** The arguments of a rule. */
export type About = Parameters<ValueRule>

/** Creates the rule of a keyword. `schema` is the schema that contains it. */
type MakeRule = (wanted: Json, schema: JsonObject, tools: RuleTools) => ValueRule

export interface RuleTools {
  readonly compile: CompilePattern
  /** Prefix of vendor extensions: `x-orch-`. */
  readonly prefix: string
}

/**
 * Returns an error in the words of the schema. Elements of a list share one path, and equal texts are reported once.
 */
function broken(path: FieldPath, value: Json, rule: string): FieldError {
  const text = `${path} in body ${rule}`
  return { ...invalid(path, value, text), once: text }
}

const ofNumbers =
  (test: (value: number | bigint) => boolean, rule: string): ValueRule =>
  (value, path) =>
    (typeof value !== 'number' && typeof value !== 'bigint') || test(value) ? [] : [broken(path, value, rule)]

const ofStrings =
  (test: (value: string) => boolean, rule: string): ValueRule =>
  (value, path) =>
    typeof value !== 'string' || test(value) ? [] : [broken(path, value, rule)]

const ofCounts =
  (count: (value: Json) => number | undefined, test: (count: number) => boolean, rule: string): ValueRule =>
  (value, path) => {
    const found = count(value)
    return found === undefined || test(found) ? [] : [broken(path, found, rule)]
  }

/** The error shows the limit, not the count. */
const ofMembers =
  (limit: Json, test: (count: number) => boolean, rule: string): ValueRule =>
  (value, path) => {
    const found = members(value)
    return found === undefined || test(found) ? [] : [broken(path, limit, rule)]
  }

const items = (value: Json) => (Array.isArray(value) ? value.length : undefined)
const members = (value: Json) => (isObject(value) ? Object.keys(value).length : undefined)

// Limits count characters. A string has at most `text.length` characters, because some take two units, and at least
// half as many.
const hasAtMost = (text: string, limit: number) =>
  text.length <= limit || (text.length <= 2 * limit && [...text].length <= limit)
const hasAtLeast = (text: string, limit: number) =>
  text.length >= 2 * limit || (text.length >= limit && [...text].length >= limit)

/** Rules that are independent of each other. */
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
  maxItems: (wanted) => ofCounts(items, (count) => count <= Number(wanted), `should have at most ${wanted} items`),
  minItems: (wanted) => ofCounts(items, (count) => count >= Number(wanted), `should have at least ${wanted} items`),
  format: (wanted) => {
    const format = knownFormat(wanted)
    if (format === undefined) return () => []
    return (value, path) =>
      typeof value !== 'string' || hasFormat(format, value)
        ? []
        : [broken(path, value, `must be of type ${wanted}: ${JSON.stringify(value)}`)]
  },
}

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

export function tooMuch(path: FieldPath): FieldError {
  return forbidden(path, 'validation against the schema takes too long: make the object smaller or the schema simpler')
}

/**
 * Only the first failing rule is reported: required members are not checked if an object has too few or too many
 * members.
 */
const memberKeywords: { readonly [keyword: string]: MakeRule } = {
  minProperties: (wanted) =>
    ofMembers(wanted, (count) => count >= Number(wanted), `should have at least ${wanted} properties`),
  maxProperties: (wanted) =>
    ofMembers(wanted, (count) => count <= Number(wanted), `should have at most ${wanted} properties`),
  required: (wanted) => (value, path) => {
    if (!isObject(value)) return []
    const missing = (wanted as string[]).filter((name) => own(value, name) === undefined)
    return missing.map((name) => ({ ...required(child(path, name)), once: `${child(path, name)} is required` }))
  },
}

/** Only the first failing rule is reported. */
const stringKeywords: { readonly [keyword: string]: MakeRule } = {
  maxLength: (wanted) =>
    ofStrings((value) => hasAtMost(value, Number(wanted)), `should be at most ${wanted} chars long`),
  minLength: (wanted) =>
    ofStrings((value) => hasAtLeast(value, Number(wanted)), `should be at least ${wanted} chars long`),
  pattern: (wanted, _, { compile }) => {
    const compiled = compile(String(wanted))
    if (compiled.outcome === 'refused') return () => []
    const { matches, size } = compiled
    const maxLength = Math.floor(maxMatchSteps / size)
    return (value, path, _context, effort) => {
      if (typeof value !== 'string') return []
      if (value.length > maxLength) return [tooLong(path, maxLength)]
      if (!mayTake(effort, size * value.length)) return [tooMuch(path)]
      return matches(value) ? [] : [broken(path, value, `should match '${wanted}'`)]
    }
  },
}

/** A match cannot be interrupted. A step takes up to 50 nanoseconds. */
const maxMatchSteps = 1_000_000

function tooLong(path: FieldPath, maxLength: number): FieldError {
  return forbidden(path, `must have at most ${maxLength} characters to be matched against its pattern`)
}

/** Returns the rule for the keywords of this schema, without logic; undefined if it has none. */
export function keywordRule(schema: JsonObject, tools: RuleTools): ValueRule | undefined {
  const rules = makeRules(keywords, schema, tools)
  for (const table of [memberKeywords, stringKeywords]) {
    const inTurn = makeRules(table, schema, tools)
    if (inTurn.length > 0) rules.push((...about) => firstFaults(inTurn, about))
  }
  return rules.length === 0 ? undefined : (...about) => rules.flatMap((rule) => rule(...about))
}

/** Returns a test for whether an object has too few or too many members. The members are then not validated. */
export function memberLimit({ minProperties, maxProperties }: JsonObject): ((value: Json) => boolean) | undefined {
  if (minProperties == null && maxProperties == null) return undefined
  const min = Number(minProperties ?? 0)
  const max = Number(maxProperties ?? Number.POSITIVE_INFINITY)
  return (value) => {
    const count = members(value)
    return count !== undefined && (count < min || count > max)
  }
}

/**
 * A plain loop is fastest: most parts of a schema have none of these keywords, and a large schema has thousands of
 * parts.
 */
function makeRules(table: { readonly [keyword: string]: MakeRule }, schema: JsonObject, tools: RuleTools): ValueRule[] {
  const rules: ValueRule[] = []
  for (const keyword in table) {
    const wanted = own(schema, keyword)
    if (wanted !== undefined && wanted !== null) rules.push(table[keyword]!(wanted, schema, tools))
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

/** Returns the types that a schema allows, as shown in errors: `integer,string` for an int-or-string. */
function typesOf(schema: JsonObject, prefix: string): string[] {
  if (schema[`${prefix}int-or-string`] === true) return ['integer', 'string']
  return typeof schema.type === 'string' && schema.type !== '' ? [schema.type] : []
}

/**
 * Returns the rule for the type of a value. As in kube-apiserver, the format matters too: if a non-numeric schema has a
 * format, strings and lists pass, and errors for other values name the format.
 */
export function typeRule(schema: JsonObject, { prefix }: Pick<RuleTools, 'prefix'>): TypeRule | undefined {
  const types = typesOf(schema, prefix)
  if (types.length === 0) return undefined
  const format = knownFormat(schema.format) === undefined ? undefined : String(schema.format)
  const isNumeric = types.includes('number') || types.includes('integer')
  // Captures only what the rule needs, so that the schema can be freed.
  const isNullable = schema.nullable === true
  return (value, path) => {
    const found = jsonType(value)
    if (found === 'null') return isNullable ? [] : [wrongType(path, types.join(','), found)]
    if (types.includes(found) || (found === 'integer' && types.includes('number'))) return []
    if (format === undefined) return [wrongType(path, types.join(','), found)]
    if (found === 'string' || found === 'array') return isNumeric ? [wrongType(path, types.join(','), found)] : []
    return [wrongType(path, format, numberFormats[found] ?? '')]
  }
}

const numberFormats: { readonly [type: string]: string } = { integer: 'int64', number: 'float64' }

function wrongType(path: FieldPath, wanted: string, found: string): FieldError {
  const text = `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`
  return { ...typeInvalid(path, found, text), once: text }
}

function jsonType(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isInt64(value)) return 'integer'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/**
 * What a user's schema demands of a value beyond its type: limits, listed values, patterns, formats, required members,
 * and the logic over further demands. Each keyword becomes a rule; a schema is the rules of its keywords in turn.
 *
 * A rule says nothing about values that its keyword is not about: `minLength` has no opinion on numbers.
 */
import { at, child, type FieldError, type FieldPath, invalid, notSupported, required } from '../model/field-error.ts'
import { isObject, type Json, type JsonObject, own, sameJson } from '../model/json.ts'
import { hasFormat } from './formats.ts'
import type { CompilePattern } from './patterns.ts'

export type ValueRule = (value: Json, path: FieldPath) => FieldError[]

/** Makes the rule of a keyword; `schema` is the one that it stands in. */
type MakeRule = (wanted: Json, schema: JsonObject, tools: Tools) => ValueRule

interface Tools {
  readonly compile: CompilePattern
}

const ofNumbers =
  (test: (value: number | bigint) => boolean, text: string): ValueRule =>
  (value, path) =>
    (typeof value !== 'number' && typeof value !== 'bigint') || test(value) ? [] : [invalid(path, value, text)]

const ofStrings =
  (test: (value: string) => boolean, text: string): ValueRule =>
  (value, path) =>
    typeof value !== 'string' || test(value) ? [] : [invalid(path, value, text)]

const ofCounts =
  (count: (value: Json) => number | undefined, test: (count: number) => boolean, text: string): ValueRule =>
  (value, path) => {
    const found = count(value)
    return found === undefined || test(found) ? [] : [invalid(path, found, text)]
  }

const items = (value: Json) => (Array.isArray(value) ? value.length : undefined)
const members = (value: Json) => (isObject(value) ? Object.keys(value).length : undefined)
// Characters, not the halves that JavaScript counts.
const length = (text: string) => [...text].length

/** In the order that faults are looked for. */
const keywords: { readonly [keyword: string]: MakeRule } = {
  enum: (wanted) => (value, path) =>
    (wanted as Json[]).some((item) => sameJson(item, value))
      ? []
      : [notSupported(path, value, (wanted as Json[]).map(String))],
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
  maxProperties: (wanted) =>
    ofCounts(members, (count) => count <= Number(wanted), `should have at most ${wanted} properties`),
  minProperties: (wanted) =>
    ofCounts(members, (count) => count >= Number(wanted), `should have at least ${wanted} properties`),
  required: (wanted) => (value, path) =>
    isObject(value)
      ? (wanted as string[]).filter((name) => own(value, name) === undefined).map((name) => required(child(path, name)))
      : [],
  format: (wanted) => (value, path) =>
    hasFormat(String(wanted), value) ? [] : [invalid(path, value, `must be of the format ${wanted}`)],
  allOf: (wanted, _, tools) => {
    const all = alternatives(wanted, tools)
    return (value, path) => all.flatMap((rule) => rule(value, path))
  },
  anyOf: (wanted, _, tools) => {
    const all = alternatives(wanted, tools)
    return (value, path) => {
      if (all.some((rule) => rule(value, path).length === 0)) return []
      return [invalid(path, '', 'must validate at least one schema (anyOf)'), ...(all[0]?.(value, path) ?? [])]
    }
  },
  oneOf: (wanted, _, tools) => {
    const all = alternatives(wanted, tools)
    return (value, path) => {
      const held = all.filter((rule) => rule(value, path).length === 0).length
      if (held === 1) return []
      const fault = invalid(path, '', `must validate one and only one schema (oneOf), but validates ${held}`)
      return held === 0 ? [fault, ...(all[0]?.(value, path) ?? [])] : [fault]
    }
  },
  not: (wanted, _, tools) => {
    const rule = deepRule(wanted as JsonObject, tools)
    return (value, path) =>
      rule(value, path).length > 0 ? [] : [invalid(path, '', 'must not validate the schema (not)')]
  },
}

/** Of these only the first that fails is told. */
const stringKeywords: { readonly [keyword: string]: MakeRule } = {
  maxLength: (wanted) =>
    ofStrings((value) => length(value) <= Number(wanted), `should be at most ${wanted} chars long`),
  minLength: (wanted) =>
    ofStrings((value) => length(value) >= Number(wanted), `should be at least ${wanted} chars long`),
  pattern: (wanted, _, { compile }) => {
    const compiled = compile(String(wanted))
    if (compiled.outcome === 'refused') return () => []
    return ofStrings(compiled.matches, `should match '${wanted}'`)
  },
}

/** The rule of the keywords that stand in this schema itself; undefined when there are none. */
export function ruleOf(schema: JsonObject, tools: Tools): ValueRule | undefined {
  const rules = makeRules(keywords, schema, tools)
  const ofText = makeRules(stringKeywords, schema, tools)
  if (ofText.length > 0) rules.push((value, path) => firstFaults(ofText, value, path))
  if (rules.length === 0) return undefined
  return (value, path) => rules.flatMap((rule) => rule(value, path))
}

/** Like `ruleOf`, with the demands on members and elements below. */
export function deepRule(schema: JsonObject, tools: Tools): ValueRule {
  const here = ruleOf(schema, tools)
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const below = properties.map(([name, inner]) => [name, deepRule(inner as JsonObject, tools)] as const)
  const element = isObject(schema.items) ? deepRule(schema.items, tools) : undefined
  return (value, path) => [
    ...(here?.(value, path) ?? []),
    ...below.flatMap(([name, rule]) => ofMember(rule, value, name, path)),
    ...(element && Array.isArray(value) ? value.flatMap((item, i) => element(item, at(path, i))) : []),
  ]
}

function ofMember(rule: ValueRule, value: Json, name: string, path: FieldPath): FieldError[] {
  const member = isObject(value) ? own(value, name) : undefined
  return member === undefined ? [] : rule(member, child(path, name))
}

function alternatives(wanted: Json, tools: Tools): ValueRule[] {
  return (wanted as JsonObject[]).map((schema) => deepRule(schema, tools))
}

function makeRules(table: { readonly [keyword: string]: MakeRule }, schema: JsonObject, tools: Tools): ValueRule[] {
  return Object.entries(table).flatMap(([keyword, make]) => {
    const wanted = own(schema, keyword)
    return wanted === undefined || wanted === null ? [] : [make(wanted, schema, tools)]
  })
}

function firstFaults(rules: readonly ValueRule[], value: Json, path: FieldPath): FieldError[] {
  for (const rule of rules) {
    const faults = rule(value, path)
    if (faults.length > 0) return faults
  }
  return []
}

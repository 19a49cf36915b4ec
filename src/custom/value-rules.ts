/**
 * What a user's schema demands of a value beyond its type: limits, listed values, patterns, formats, required members,
 * and the logic over further demands. Each keyword becomes a rule; a schema is the rules of its keywords in turn.
 *
 * A rule says nothing about values that its keyword is not about: `minLength` has no opinion on numbers.
 */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../model/field-error.ts'
import { isObject, type Json, type JsonObject, own, sameJson } from '../model/json.ts'
import type { Effort } from '../schema/effort.ts'
import { mayTake } from './effort.ts'
import { hasFormat } from './formats.ts'
import type { CompilePattern } from './patterns.ts'

export type ValueRule = (value: Json, path: FieldPath, context: unknown, effort: Effort) => FieldError[]

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
  enum: (wanted) => {
    const texts = new Set((wanted as Json[]).filter((item) => typeof item === 'string'))
    const others = (wanted as Json[]).filter((item) => typeof item !== 'string')
    return (value, path, _, effort) => {
      if (texts.has(value as string)) return []
      if (others.length > 0 && !mayTake(effort, others.length)) return [tooMuch(path)]
      return others.some((item) => sameJson(item, value))
        ? []
        : [notSupported(path, value, (wanted as Json[]).map(String))]
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
    return (...about) => {
      const faults: FieldError[] = []
      for (const rule of all) if (!isSpent(about)) faults.push(...rule(...about))
      return isSpent(about) ? [tooMuch(about[1])] : faults
    }
  },
  anyOf: (wanted, _, tools) => {
    const all = alternatives(wanted, tools)
    return (...about) => {
      const [, path] = about
      const held = countHeld(all, about, 1)
      if (held > 0) return []
      if (isSpent(about)) return [tooMuch(path)]
      return [invalid(path, '', 'must validate at least one schema (anyOf)'), ...(all[0]?.(...about) ?? [])]
    }
  },
  oneOf: (wanted, _, tools) => {
    const all = alternatives(wanted, tools)
    return (...about) => {
      const [, path] = about
      const held = countHeld(all, about, all.length)
      if (isSpent(about)) return [tooMuch(path)]
      if (held === 1) return []
      const fault = invalid(path, '', `must validate one and only one schema (oneOf), but validates ${held}`)
      return held === 0 ? [fault, ...(all[0]?.(...about) ?? [])] : [fault]
    }
  },
  not: (wanted, _, tools) => {
    const rule = deepRule(wanted as JsonObject, tools)
    return (value, path, context, effort) => {
      const holds = rule(value, path, context, effort).length === 0
      // What is refused because it takes too long has not been found to differ.
      if (effort.spent) return [tooMuch(path)]
      return holds ? [invalid(path, '', 'must not validate the schema (not)')] : []
    }
  },
}

type About = Parameters<ValueRule>

function isSpent([, , , effort]: About): boolean {
  return effort.spent
}

/** How many of these rules hold, up to a number. Once it has taken too long nobody is asked any more. */
function countHeld(rules: readonly ValueRule[], about: About, enough: number): number {
  let held = 0
  for (const rule of rules) {
    const holds = rule(...about).length === 0
    if (isSpent(about)) return 0
    if (holds && ++held === enough) break
  }
  return held
}

function tooMuch(path: FieldPath): FieldError {
  return forbidden(path, 'it takes too long to judge this object by its schema: make it smaller, or the schema simpler')
}

/** Of these only the first that fails is reported. */
const stringKeywords: { readonly [keyword: string]: MakeRule } = {
  maxLength: (wanted) =>
    ofStrings((value) => length(value) <= Number(wanted), `should be at most ${wanted} chars long`),
  minLength: (wanted) =>
    ofStrings((value) => length(value) >= Number(wanted), `should be at least ${wanted} chars long`),
  pattern: (wanted, _, { compile }) => {
    const compiled = compile(String(wanted))
    if (compiled.outcome === 'refused') return () => []
    const { matches, size } = compiled
    const longest = Math.floor(maxMatchSteps / size)
    return (value, path, _context, effort) => {
      if (typeof value !== 'string') return []
      if (value.length > longest) return [tooLong(path, longest)]
      if (!mayTake(effort, size * value.length)) return [tooMuch(path)]
      return matches(value) ? [] : [invalid(path, value, `should match '${wanted}'`)]
    }
  },
}

/** A match cannot be interrupted; a step takes up to 50 nanoseconds. */
const maxMatchSteps = 1_000_000

function tooLong(path: FieldPath, longest: number): FieldError {
  return forbidden(path, `must have at most ${longest} characters to be matched against its pattern`)
}

/** The rule of the keywords that stand in this schema itself; undefined when there are none. */
export function ruleOf(schema: JsonObject, tools: Tools): ValueRule | undefined {
  const rules = makeRules(keywords, schema, tools)
  const ofText = makeRules(stringKeywords, schema, tools)
  if (ofText.length > 0) rules.push((...about) => firstFaults(ofText, about))
  if (rules.length === 0) return undefined
  return (...about) => rules.flatMap((rule) => rule(...about))
}

/** What it takes to ask one alternative about one value, in the steps of a pattern. */
const alternativeSteps = 40

/** Like `ruleOf`, with the demands on members and elements below. */
export function deepRule(schema: JsonObject, tools: Tools): ValueRule {
  const here = ruleOf(schema, tools)
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const below = properties.map(([name, inner]) => [name, deepRule(inner as JsonObject, tools)] as const)
  const element = isObject(schema.items) ? deepRule(schema.items, tools) : undefined
  return (value, path, ...rest) => {
    const [, effort] = rest
    if (!mayTake(effort, alternativeSteps)) return [tooMuch(path)]
    return [
      ...(here?.(value, path, ...rest) ?? []),
      ...below.flatMap(([name, rule]) => {
        const member = isObject(value) ? own(value, name) : undefined
        return member === undefined ? [] : rule(member, child(path, name), ...rest)
      }),
      ...(element && Array.isArray(value) ? value.flatMap((item, i) => element(item, at(path, i), ...rest)) : []),
    ]
  }
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

function firstFaults(rules: readonly ValueRule[], about: Parameters<ValueRule>): FieldError[] {
  for (const rule of rules) {
    const faults = rule(...about)
    if (faults.length > 0) return faults
  }
  return []
}

/** The functions of templates that depend on nothing but their arguments: Go's own, and the most used of sprig and KWOK. */
import { isObject, type Json, type JsonObject, own, sameJson, setKey } from '../../../model/json.ts'
import { StageError } from '../stage-error.ts'

export type TemplateFunction = (...args: Json[]) => Json

/** A value as a template prints it. */
export function printed(value: Json): string {
  if (value === null) return '<no value>'
  return typeof value === 'object' ? JSON.stringify(value, numbers) : String(value)
}

function numbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) ? Object.keys(value).length === 0 : !value
}

/** JSON is YAML. It stands on one line, so its place in the text does not matter. */
function flow(value: Json | undefined): string {
  return JSON.stringify(value ?? null, numbers)
}

function textOf(value: Json | undefined): string {
  return value === undefined || value === null ? '' : printed(value)
}

function index(value: Json = null, ...keys: Json[]): Json {
  return keys.reduce<Json>((found, key) => {
    if (Array.isArray(found)) return found[Number(key)] ?? null
    return isObject(found) ? (own(found, String(key)) ?? null) : null
  }, value)
}

function dict(...pairs: Json[]): Json {
  const made: JsonObject = {}
  for (let i = 0; i < pairs.length; i += 2) setKey(made, String(pairs[i]), pairs[i + 1] ?? '')
  return made
}

function compared(name: string, holds: (order: number) => boolean): TemplateFunction {
  return (a = null, b = null) => {
    if (typeof a === 'string' && typeof b === 'string') return holds(a < b ? -1 : a > b ? 1 : 0)
    if (typeof a !== 'number' || typeof b !== 'number')
      throw new StageError(`statusTemplate: ${name} compares two numbers or two texts`)
    return holds(a - b)
  }
}

const quote: TemplateFunction = (value) => JSON.stringify(textOf(value))

/** By their names. */
export const builtInFunctions: { readonly [name: string]: TemplateFunction } = {
  and: (...values) => values.find(isEmpty) ?? values.at(-1) ?? null,
  or: (...values) => values.find((value) => !isEmpty(value)) ?? values.at(-1) ?? null,
  not: (value) => isEmpty(value),
  eq: (value = null, ...others) => others.some((other) => sameJson(value, other)),
  ne: (a = null, b = null) => !sameJson(a, b),
  lt: compared('lt', (order) => order < 0),
  le: compared('le', (order) => order <= 0),
  gt: compared('gt', (order) => order > 0),
  ge: compared('ge', (order) => order >= 0),
  len: (value = '') =>
    isObject(value) ? Object.keys(value).length : Array.isArray(value) ? value.length : String(value).length,
  index,
  print: (...values) => values.map(textOf).join(' '),
  Quote: quote,
  quote,
  YAML: (value, depth) => `${'  '.repeat(1 + (Math.trunc(Number(depth ?? 0)) & 31))}${flow(value)}`,
  toJson: flow,
  toYaml: flow,
  dict,
  list: (...values) => values,
  default: (fallback = null, value = null) => (isEmpty(value) ? fallback : value),
  coalesce: (...values) => values.find((value) => !isEmpty(value)) ?? null,
  ternary: (yes = null, no = null, which = false) => (isEmpty(which) ? no : yes),
  empty: (value) => isEmpty(value),
  add: (...values) => values.reduce<number>((sum, value) => sum + Number(value), 0),
  sub: (a = 0, b = 0) => Number(a) - Number(b),
  int: (value = 0) => Math.trunc(Number(value)) || 0,
  toString: (value?: Json) => textOf(value),
  upper: (value) => textOf(value).toUpperCase(),
  lower: (value) => textOf(value).toLowerCase(),
  trim: (value) => textOf(value).trim(),
  contains: (part, value) => textOf(value).includes(textOf(part)),
  hasPrefix: (part, value) => textOf(value).startsWith(textOf(part)),
  hasSuffix: (part, value) => textOf(value).endsWith(textOf(part)),
}

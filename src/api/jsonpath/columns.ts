/**
 * The paths of printer columns, with the syntax of kube-apiserver 1.23: `.spec.size`, `.metadata.annotations.a\.b`,
 * `['a b']`, `[0]`, `[-1:]`, `[0,2]`, `[*]`, `..name`, `[?(@.type=="Ready")]`, `[?(@=="x")]`, `[?(@.ready)]`. A column
 * shows only the first value that its path selects. Users write both the path and the object, so a path that would
 * visit too many values selects nothing.
 */
import { UsageError } from '../../base/flags/flags.ts'
import { isObject, type Json } from '../json/json.ts'
import { firstValue, type Rules, VisitBudget } from './evaluate.ts'
import { type Grammar, parseSteps } from './parse-path.ts'
import { type Operator, operators, type Slice, type Step } from './path.ts'

/**
 * Returns the first value that the path selects. Returns undefined if there is no such value or if the path does not
 * match the structure of the object.
 */
export type ColumnPath = (value: Json) => Json | undefined

const maxVisits = 10_000
const maxLength = 1000

/** Parses the path of a column. Returns undefined if the string is not a path. */
export function parseColumnPath(text: string): ColumnPath | undefined {
  const path = parse(text.trim())
  return path && ((value) => evaluate(path, value))
}

function parse(text: string): Step[] | undefined {
  if (text === '' || text.length > maxLength) return undefined
  // The path `.` selects the whole object.
  if (text === '.') return []
  try {
    return parseSteps(text, grammar)
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}

function evaluate(path: readonly Step[], value: Json): Json | undefined {
  try {
    return firstValue(path, value, { top: value, rules, budget: new VisitBudget(maxVisits, () => new Misfit()) })
  } catch (error) {
    if (error instanceof Misfit) return undefined
    throw error
  }
}

/**
 * Thrown if a path does not match the structure of an object. The column then remains empty, even if another branch of
 * the path has a value.
 */
class Misfit extends Error {}

const quoted = /^(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")$/

function unquote(text: string): string | undefined {
  const match = quoted.exec(text)
  return match === null ? undefined : (match[1] ?? match[2]!).replaceAll(/\\(.)/gs, '$1')
}

const grammar: Grammar = {
  member: /\.((?:[^.[\]\\'"*?@$(){},\s]|\\.)+|(?=\[))/y,
  hasRoots: false,
  bracketName: unquote,
  slice: /^(-?\d{1,9})?(?:(:)(-?\d{1,9})?(?::(-?\d{1,9})?)?)?$/,
  splitFilter: (text) => {
    const [, left, operator, right] = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text) ?? []
    if (left === undefined || right === undefined) return undefined
    if (!isOperator(operator)) throw new UsageError(`jsonpath: unknown operator ${operator}`)
    return { left, operator, right }
  },
  operand: (text) => {
    const constant = unquote(text)
    if (constant !== undefined) return { value: constant }
    if (text === 'true' || text === 'false') return { value: text === 'true' }
    if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return { value: Number(text) }
    if (text === '@.' || text === '$.' || text === '.') return { text: text.slice(0, -1) }
    return text === '@' || /^(?:[@$].|\.)/s.test(text) ? { text } : undefined
  },
  maxSteps: maxLength,
  maxDepth: 8,
}

function isOperator(text: string | undefined): text is Operator {
  return operators.includes(text as Operator)
}

function listOf(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw new Misfit()
  return value
}

const rules: Rules = {
  children: (value) => {
    if (Array.isArray(value)) return value
    return isObject(value) ? Object.values(value).filter((item) => item !== undefined) : []
  },
  candidates: listOf,
  slice: (value, slice) => ('index' in slice ? [elementAt(listOf(value), slice.index)] : elementsIn(value, slice)),
  compare: (operator, a, b) => {
    // Values of different types cannot be compared, so the filter does not match.
    if (typeof a !== typeof b || typeof a === 'object') throw new Misfit()
    return comparisons[operator](a as string, b as string)
  },
}

function elementAt(list: readonly Json[], index: number): Json {
  const element = list.at(index)
  if (element === undefined) throw new Misfit()
  return element
}

function elementsIn(value: Json, { from, to, by }: Exclude<Slice, { index: number }>): readonly Json[] {
  const list = listOf(value)
  if (by < 1) throw new Misfit()
  const part = list.slice(from, to)
  return by === 1 ? part : part.filter((_, i) => i % by === 0)
}

type Compare = (a: string | number, b: string | number) => boolean

const comparisons: { readonly [operator in Operator]: Compare } = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
}

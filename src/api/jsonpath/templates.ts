/**
 * Implements kubectl's JSONPath templates and the paths in kubectl's flags. A template consists of plain text,
 * expressions in braces, and ranges. For example, `{range .items[*]}{.metadata.name}{"\n"}{end}` is a range whose body
 * consists of an expression and a newline.
 *
 * A path selects all matching values in document order, with map keys in byte order. A missing field produces no output
 * and is not an error, because not all objects have the same fields. In a template, an index beyond the end of a list
 * is an error, as in kubectl. Parsing and execution throw UsageError.
 */
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { isObject, type Json, own } from '../json/json.ts'
import { sortedJson } from '../json/sorted-json.ts'
import { allValues, type Rules, VisitBudget } from './evaluate.ts'
import { type Grammar, parseSteps, splitOutsideQuotes } from './parse-path.ts'
import { type Operator, operators, type Slice, type Step } from './path.ts'

/** A part of a template: text, a path, or a range with its own parts. */
export type Part =
  | { readonly text: string }
  | { readonly path: readonly Step[] }
  | { readonly range: readonly Step[]; readonly body: readonly Part[] }

/**
 * Maximum number of values that a template may visit. All objects of a large cluster together contain fewer values. A
 * template that visits more values would take too long.
 */
const maxVisits = 50_000_000
/** Maximum length of a string in JavaScript. */
const maxTextLength = 2 ** 29 - 24
const maxNestedRanges = 100

/** Parses a template, which consists of text and expressions in braces. */
export function parseTemplate(template: string): Part[] {
  return partsUntilEnd(tokensOf(template).reverse(), 0)
}

/** Parses a single expression, with or without braces and the leading dot, as in a column or in `--sort-by`. */
export function parsePath(text: string): Step[] {
  return parseSteps(pathText(text), grammar)
}

function pathText(text: string): string {
  const bare = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim()
  return /^[.[$@]/.test(bare) ? bare : `.${bare}`
}

/** Executes a template on a value and returns its output. */
export function fillTemplate(parts: readonly Part[], value: Json, how: FillOptions = { missingKeys: 'allow' }): string {
  return fill(parts, scopeOf(value, how))
}

/** How expressions that select nothing are treated. */
export interface FillOptions {
  /** Whether an expression that selects nothing is an error. */
  readonly missingKeys: 'allow' | 'refuse'
}

/** Returns all values that the expressions of a template select, in order. */
export function templateValues(parts: readonly Part[], value: Json, how: FillOptions): Json[] {
  return valuesOf(parts, scopeOf(value, how))
}

/** Evaluates a path leniently and returns all selected values. */
export function valuesAt(path: readonly Step[], value: Json): Json[] {
  return allValues(path, value, { top: value, rules: lenientRules, budget: newBudget() })
}

/** Formats a value for printing. A string is printed unchanged, and any other value as JSON. */
export function plainText(value: Json): string {
  if (typeof value === 'string') return value
  return sortedJson(value)
}

/** The current value, root value and remaining budget while a part of a template is executed. */
interface Scope extends FillOptions {
  readonly here: Json
  readonly top: Json
  readonly budget: VisitBudget
  readonly printed: { length: number }
}

function scopeOf(value: Json, how: FillOptions): Scope {
  return { here: value, top: value, budget: newBudget(), printed: { length: 0 }, ...how }
}

function newBudget(): VisitBudget {
  return new VisitBudget(maxVisits, () => new UsageError(`jsonpath: the template visits more than ${maxVisits} values`))
}

function valuesOf(parts: readonly Part[], scope: Scope): Json[] {
  return parts.flatMap((part) => {
    if ('text' in part) return part.text.trim() === '' ? [] : [part.text]
    if ('path' in part) return valuesIn(part.path, scope)
    return valuesIn(part.range, scope).flatMap((here) => valuesOf(part.body, { ...scope, here }))
  })
}

function fill(parts: readonly Part[], scope: Scope): string {
  return parts.map((part) => fillPart(part, scope)).join('')
}

function fillPart(part: Part, scope: Scope): string {
  if ('text' in part) return print(part.text, scope)
  if ('path' in part)
    return valuesIn(part.path, scope)
      .map((value) => print(plainText(value), scope))
      .join(' ')
  return valuesIn(part.range, scope)
    .map((here) => fill(part.body, { ...scope, here }))
    .join('')
}

/** Adds text to the output and counts its length, to stop templates that print a large object repeatedly. */
function print(text: string, { printed }: Scope): string {
  printed.length += text.length
  if (printed.length > maxTextLength) throw new UsageError('jsonpath: the template output exceeds 512 MiB')
  return text
}

function valuesIn(path: readonly Step[], { here, top, budget, missingKeys }: Scope): Json[] {
  const values = allValues(path, here, { top, budget, rules: strictRules })
  if (values.length > 0 || missingKeys === 'allow') return values
  const last = path.findLast((step) => 'field' in step)
  throw new UsageError(`${last === undefined ? 'the path' : last.field} is not found`)
}

const lenientRules: Rules = {
  children: childrenOf,
  candidates: childrenOf,
  slice: (value, slice) => (Array.isArray(value) ? elementsIn(value, slice) : []),
  compare,
}

/** The rules for templates: an index beyond the end of a list is an error, except in a filter. */
const strictRules: Rules = {
  ...lenientRules,
  slice: (value, slice) => {
    if (!Array.isArray(value)) return []
    checkBounds(value.length, slice)
    return elementsIn(value, slice)
  },
  inFilter: lenientRules,
}

function childrenOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return []
  return Object.keys(value)
    .sort(compareUtf8)
    .map((key) => own(value, key)!)
}

/** Returns the bounds of a slice. For the index -1, which selects the last element, the slice has no end. */
function rangeOf(slice: Slice): { from?: number; to?: number; by: number } {
  if (!('index' in slice)) return slice
  return slice.index === -1 ? { from: -1, by: 1 } : { from: slice.index, to: slice.index + 1, by: 1 }
}

/** Throws UsageError if a slice starts or ends outside the list. */
function checkBounds(length: number, slice: Slice): void {
  const { from = 0, to = length } = rangeOf(slice)
  const first = from < 0 ? from + length : from
  const end = to < 0 ? to + length : to
  if (first === end) return
  const outside = first < 0 || first >= length ? first : end < 0 || end > length ? end - 1 : undefined
  if (outside !== undefined) throw new UsageError(`array index out of bounds: index ${outside}, length ${length}`)
}

function elementsIn(list: readonly Json[], slice: Slice): readonly Json[] {
  const { from = 0, to, by } = rangeOf(slice)
  const part = list.slice(from, to)
  return by > 1 ? part.filter((_, i) => i % by === 0) : part
}

function compare(operator: Operator, a: Json, b: Json): boolean {
  if (operator === '==') return plainText(a) === plainText(b)
  if (operator === '!=') return plainText(a) !== plainText(b)
  const isText = typeof a === 'string' || typeof b === 'string'
  const x = isText ? plainText(a) : Number(a)
  const y = isText ? plainText(b) : Number(b)
  if (operator === '<') return x < y
  if (operator === '>') return x > y
  return operator === '<=' ? x <= y : x >= y
}

const grammar: Grammar = {
  member: /\.((?:\\.|[^.[\]\s\\])*)/y,
  hasRoots: true,
  bracketName: (text) => {
    if (/^["'].*["']$/s.test(text)) return unquote(text)
    return /^[\w./-]+$/.test(text) ? text : undefined
  },
  slice: /^(-?\d+)?(?:(:)(-?\d+)?(?::(-?\d+))?)?$/,
  splitFilter: (text) => {
    for (const operator of operators) {
      const [left, right, ...rest] = splitOutsideQuotes(text, operator)
      if (right !== undefined && rest.length === 0) return { left: left!, operator, right }
    }
    return undefined
  },
  operand: (text) => {
    if (/^["']/.test(text)) return { value: unquote(text) }
    if (text === 'true' || text === 'false') return { value: text === 'true' }
    if (/^-?\d+(?:\.\d+)?$/.test(text)) return { value: Number(text) }
    return { text: pathText(text) }
  },
  maxSteps: 1000,
  maxDepth: 100,
}

interface Token {
  readonly inBraces: boolean
  readonly text: string
}

function tokensOf(template: string): Token[] {
  const tokens: Token[] = []
  let place = 0
  while (place < template.length) {
    const open = template.indexOf('{', place)
    const end = open < 0 ? template.length : open
    if (end > place) tokens.push({ inBraces: false, text: template.slice(place, end) })
    if (open < 0) break
    const close = closingBrace(template, open)
    tokens.push({ inBraces: true, text: template.slice(open + 1, close).trim() })
    place = close + 1
  }
  return tokens
}

/** Returns the position of the matching closing brace. Braces inside quotes are ignored. */
function closingBrace(template: string, open: number): number {
  let quote = ''
  for (let i = open + 1; i < template.length; i++) {
    const c = template[i]!
    if (c === '\\') i++
    else if (quote !== '') quote = c === quote ? '' : quote
    else if (c === '"' || c === "'") quote = c
    else if (c === '}') return i
  }
  throw new UsageError(`jsonpath: missing closing brace for ${JSON.stringify(template.slice(open, open + 20))}`)
}

/**
 * Parses the parts of a template up to `{end}`. `tokens` are in reverse order. `depth` is the number of enclosing
 * ranges.
 */
function partsUntilEnd(tokens: Token[], depth: number): Part[] {
  if (depth > maxNestedRanges) throw new UsageError(`jsonpath: more than ${maxNestedRanges} nested ranges`)
  const parts: Part[] = []
  for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) {
    if (!token.inBraces) parts.push({ text: token.text })
    else if (token.text === 'end') {
      if (depth === 0) throw new UsageError('jsonpath: {end} without {range ...}')
      return parts
    } else parts.push(...expressionParts(token.text, tokens, depth))
  }
  if (depth > 0) throw new UsageError('jsonpath: {range ...} without {end}')
  return parts
}

function expressionParts(text: string, tokens: Token[], depth: number): Part[] {
  if (/^range\s/.test(text))
    return [{ range: parsePath(text.slice('range'.length)), body: partsUntilEnd(tokens, depth + 1) }]
  return piecesOf(text).map((piece) => (/^["']/.test(piece) ? { text: unquote(piece) } : { path: parsePath(piece) }))
}

/** Splits a string at spaces outside quotes and brackets. For example, `.a "x" .b` is split into three words. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let piece = ''
  let quote = ''
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (quote === '' && depth === 0 && /\s/.test(c)) {
      if (piece !== '') pieces.push(piece)
      piece = ''
      continue
    }
    if (quote === '' && depth === 0 && /["']/.test(c) && piece !== '') {
      pieces.push(piece)
      piece = ''
    }
    piece += c
    if (c === '\\') piece += text[++i] ?? ''
    else if (quote !== '') {
      if (c === quote) quote = ''
      if (quote === '' && depth === 0) {
        pieces.push(piece)
        piece = ''
      }
    } else if (/["']/.test(c)) quote = c
    else if (c === '[') depth++
    else if (c === ']') depth--
  }
  return piece === '' ? pieces : [...pieces, piece]
}

const escapes: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r' }

function unquote(text: string): string {
  return text.slice(1, -1).replaceAll(/\\(.)/gs, (_, letter: string) => escapes[letter] ?? letter)
}

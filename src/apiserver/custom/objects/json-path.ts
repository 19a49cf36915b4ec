/**
 * The paths of printer columns, as kube-apiserver 1.23 reads them: `.spec.size`, `.metadata.annotations.a\.b`, `['a b']`,
 * `[0]`, `[-1:]`, `[0,2]`, `[*]`, `..name`, `[?(@.type=="Ready")]`, `[?(@=="x")]`, `[?(@.ready)]`. Only the first value at
 * the end of a path counts. A path is the user's, and so is the object: a search that takes too long finds nothing.
 */
import { isObject, type Json, own } from '../../../api/json/json.ts'

/** Returns the first value at the end of the path; undefined where there is none, or the path does not fit the value. */
export type JsonPath = (value: Json) => Json | undefined

/** From a value to those one step below. */
type Step = (value: Json, search: Search) => Iterable<Json>

/** Steps in a row. */
interface Path {
  readonly step: Step
  readonly next: Path | undefined
}

function pathOf(steps: readonly Step[]): Path | undefined {
  return steps.reduceRight<Path | undefined>((next, step) => ({ step, next }), undefined)
}

interface Search {
  /** The object itself: `$`. */
  readonly top: Json
  /** How many more values may be looked at. */
  left: number
}

/** Thrown where a path does not fit the value: then there is nothing to show, whatever else it would find. */
class Misfit extends Error {}

const maxLooks = 10_000

/** Undefined for what is no path. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps = parseSteps(text.trim())
  if (steps === undefined) return undefined
  const path = pathOf(steps)
  return (value) => {
    try {
      return oneOf(follow(path, value, { top: value, left: maxLooks }))
    } catch (error) {
      if (error instanceof Misfit) return undefined
      throw error
    }
  }
}

function* follow(path: Path | undefined, value: Json, search: Search): Generator<Json> {
  if (search.left-- <= 0) throw new Misfit()
  if (path === undefined) yield value
  else for (const below of path.step(value, search)) yield* follow(path.next, below, search)
}

const longestPath = 1000
const deepestFilter = 8

function parseSteps(path: string, depth = 0): Step[] | undefined {
  if (path === '' || path.length > longestPath || depth > deepestFilter) return undefined
  const steps: Step[] = []
  for (let at = 0; at < path.length; ) {
    const read = readStep(path, at, depth)
    if (read === undefined) return undefined
    steps.push(...read.steps)
    at = read.end
  }
  return steps
}

interface ReadStep {
  readonly steps: readonly Step[]
  readonly end: number
}

const member = /\.((?:[^.[\]\\'"*?@$(){},\s]|\\.)+)/y

function readStep(path: string, at: number, depth: number): ReadStep | undefined {
  const rest = (length: number, ...steps: Step[]): ReadStep => ({ steps, end: at + length })
  if (path.startsWith('..', at))
    return path.length > at + 2 ? rest(path[at + 2] === '[' ? 2 : 1, descendants) : undefined
  if (path.startsWith('.*', at)) return rest(2, children)
  if (path.startsWith('.[', at) || path === '.') return rest(1)
  if (path[at] === '[') return readBrackets(path, at, depth)
  member.lastIndex = at
  const match = member.exec(path)
  return match === null ? undefined : rest(match[0].length, memberOf(plainText(match[1]!)))
}

function readBrackets(path: string, at: number, depth: number): ReadStep | undefined {
  const close = closingBracket(path, at)
  if (close === undefined) return undefined
  const step = bracketStep(path.slice(at + 1, close).trim(), depth)
  return step && { steps: [step], end: close + 1 }
}

/** Brackets in quotes do not count. */
function closingBracket(path: string, open: number): number | undefined {
  let quote = ''
  let level = 0
  for (let i = open; i < path.length; i++) {
    const c = path[i]!
    if (c === '\\') i++
    else if (quote !== '') quote = c === quote ? '' : quote
    else if (c === '"' || c === "'") quote = c
    else if (c === '[') level++
    else if (c === ']' && --level === 0) return i
  }
  return undefined
}

function bracketStep(text: string, depth: number): Step | undefined {
  if (text === '*') return children
  const filter = /^\?\((.*)\)$/s.exec(text)
  if (filter !== null) return filterStep(filter[1]!, depth + 1)
  const members = splitUnion(text).map((item) => elementStep(item.trim()))
  if (members.some((step) => step === undefined)) return undefined
  const steps = members as Step[]
  return steps.length === 1 ? steps[0] : (value, search) => steps.flatMap((step) => [...step(value, search)])
}

/** The parts between commas that no quotes enclose. */
function splitUnion(text: string): string[] {
  const parts: string[] = []
  let [start, quote] = [0, '']
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (quote !== '') {
      if (char === '\\') at++
      else if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === ',') {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)]
}

const quoted = /^(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")$/
const slice = /^(-?\d{1,9})?(?:(:)(-?\d{1,9})?(?::(-?\d{1,9})?)?)?$/

function elementStep(text: string): Step | undefined {
  const name = quoted.exec(text)
  if (name !== null) return memberOf(plainText(name[1] ?? name[2]!))
  const range = text === '' ? null : slice.exec(text)
  if (range === null) return undefined
  const [, from, colon, to, by] = range
  return colon === undefined ? elementAt(Number(from)) : elementsIn({ from, to, by })
}

function plainText(text: string): string {
  return text.replaceAll(/\\(.)/gs, '$1')
}

const children: Step = (value) => {
  if (Array.isArray(value)) return value
  return isObject(value) ? Object.values(value).filter((item) => item !== undefined) : []
}

/** The value itself and everything below it. */
const descendants: Step = function* (value, search) {
  if (search.left-- <= 0) throw new Misfit()
  yield value
  for (const below of children(value, search)) yield* descendants(below, search)
}

function memberOf(name: string): Step {
  return (value) => {
    const found = isObject(value) ? own(value, name) : undefined
    return found === undefined ? [] : [found]
  }
}

function listOf(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw new Misfit()
  return value
}

function elementAt(index: number): Step {
  return (value) => {
    const found = listOf(value).at(index)
    if (found === undefined) throw new Misfit()
    return [found]
  }
}

type Range = { readonly [part in 'from' | 'to' | 'by']: string | undefined }

function elementsIn({ from, to, by }: Range): Step {
  const stride = by === undefined ? 1 : Number(by)
  return (value) => {
    const list = listOf(value)
    if (stride < 1) throw new Misfit()
    const part = list.slice(from === undefined ? 0 : Number(from), to === undefined ? undefined : Number(to))
    return stride === 1 ? part : part.filter((_, i) => i % stride === 0)
  }
}

const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s

/** The elements of a list for which the comparison holds, or for which there is a value at the path. */
function filterStep(text: string, depth: number): Step | undefined {
  const [, left = text, operator = 'exists', right] = comparison.exec(text) ?? []
  const lefts = operandOf(left.trim(), depth)
  const rights = right === undefined ? undefined : operandOf(right.trim(), depth)
  if (lefts === undefined || (right !== undefined && rights === undefined)) return undefined
  if (operator === 'exists') return kept((item, search) => oneOf(lefts(item, search)) !== undefined)
  const compare = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined
  return compare && kept((item, search) => holds(compare, oneOf(lefts(item, search)), oneOf(rights!(item, search))))
}

function kept(isWanted: (item: Json, search: Search) => boolean): Step {
  return function* (value, search) {
    for (const item of listOf(value)) {
      if (search.left-- <= 0) throw new Misfit()
      if (isWanted(item, search)) yield item
    }
  }
}

function operandOf(text: string, depth: number): Step | undefined {
  const literal = quoted.exec(text)
  if (literal !== null) return constant(plainText(literal[1] ?? literal[2]!))
  if (text === 'true' || text === 'false') return constant(text === 'true')
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return constant(Number(text))
  if (text === '@') return (value) => [value]
  const steps = /^[@$.]/.test(text) ? parseSteps(text.replace(/^[@$]/, ''), depth) : undefined
  if (steps === undefined) return undefined
  const path = pathOf(steps)
  return (value, search) => follow(path, text.startsWith('$') ? search.top : value, search)
}

function constant(value: Json): Step {
  return () => [value]
}

function oneOf(values: Iterable<Json>): Json | undefined {
  for (const value of values) return value
  return undefined
}

type Compare = (a: string | number, b: string | number) => boolean

const comparisons: { readonly [operator: string]: Compare } = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
}

/** Values of different types cannot be compared. */
function holds(compare: Compare, a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return false
  if (typeof a !== typeof b || typeof a === 'object') throw new Misfit()
  return compare(a as string, b as string)
}

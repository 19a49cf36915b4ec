/**
 * String functions: the standard functions of CEL and the string extension that Kubernetes supports. Positions are
 * counted in characters.
 */

import { type Budget, BudgetExceeded } from '../budget.ts'
import { lengthOf, sizeOf } from '../compare.ts'
import {
  type CallEstimate,
  type Costs,
  define,
  type Estimated,
  type Functions,
  type Implementation,
  type Run,
} from '../overload.ts'
import { addSizes, type Size, times, traversal } from '../size.ts'
import { ArrayList, CelError, type CelList, type Int, type Value } from '../values.ts'

type Texts = readonly [string, string, string]

const texts = (args: readonly Value[]) => args as unknown as Texts

/** Returns the cost of traversing a string `count` times. */
function passes(count: number, result?: (size: Size) => Size): Costs {
  return {
    actual: ([text]) => traversal(sizeOf(text!), count / 10),
    estimate: ([text]) => ({
      cost: traversal(text!.size.max, count / 10),
      ...(result && { size: result(text!.size) }),
    }),
  }
}

const sameSize = (size: Size) => size
const searching: Costs = { ...passes(1), actual: ([text]) => Math.floor(Buffer.byteLength(text as string) / 10) }

/** The cost of comparing a prefix or suffix, which depends on the length of the second string. */
const ofArgument: Costs = {
  actual: ([, part]) => traversal(sizeOf(part!)),
  estimate: ([, part]) => ({ cost: traversal(part!.size.max) }),
}

const ofBoth: Costs = {
  actual: ([text, part]) => traversal(sizeOf(text!)) * traversal(sizeOf(part!)),
  estimate: ([text, part]) => ({ cost: times(traversal(text!.size.max), traversal(part!.size.max)) }),
}

/**
 * Maximum number of steps per search. A search cannot be interrupted, and in the worst case compares every character of
 * one string with every character of the other.
 */
const maxSearchSteps = 40_000_000

function beforeSearch({ budget }: Run, text: string, part: string): void {
  const steps = text.length * part.length
  if (steps > maxSearchSteps) throw new BudgetExceeded()
  budget.work(Math.ceil(steps / 20))
}

const includes: Implementation = (run, args) => {
  const [text, part] = texts(args)
  beforeSearch(run, text, part)
  return text.includes(part)
}

/**
 * Returns each character as a separate string. A one-character string needs as much memory as ten characters of a long
 * string.
 */
function lettersOf(budget: Budget, text: string): string[] {
  budget.allocate(10 * text.length)
  return [...text]
}

/**
 * Returns the characters of a string for access by position. If the string has no surrogate pairs, the result is the
 * string itself, because its UTF-16 code units are its characters.
 */
function characters(
  { budget }: Run,
  text: string,
): { readonly length: number; slice(from: number, to?: number): string } {
  budget.work(text.length)
  if (lengthOf(text) === text.length) return text
  const list = lettersOf(budget, text)
  return { length: list.length, slice: (from, to) => list.slice(from, to).join('') }
}

function position(value: Value | undefined, length: number): number {
  const index = value as Int
  if (index < 0 || index > length) throw new CelError(`index out of range: ${index}`)
  return Number(index)
}

const charAt: Implementation = (run, [text, index]) => {
  const list = characters(run, text as string)
  const at = position(index, list.length)
  return list.slice(at, at + 1)
}

const indexOf: Implementation = (run, [text, part, from]) => {
  beforeSearch(run, text as string, part as string)
  const list = characters(run, text as string)
  const start = from === undefined ? 0 : position(from, list.length)
  if (part === '') return start
  const before = list.slice(0, start).length
  const matchStart = (text as string).indexOf(part as string, before)
  return matchStart < 0 ? -1 : lengthOf((text as string).slice(0, matchStart))
}

const lastIndexOf: Implementation = (run, [text, part, from]) => {
  beforeSearch(run, text as string, part as string)
  const list = characters(run, text as string)
  const start = from === undefined ? list.length : position(from, list.length)
  if (part === '') return start
  const before = list.slice(0, start).length
  const matchStart = (text as string).lastIndexOf(part as string, before)
  return matchStart < 0 ? -1 : lengthOf((text as string).slice(0, matchStart))
}

const substring: Implementation = (run, [text, from, to]) => {
  const list = characters(run, text as string)
  const begin = position(from, list.length)
  const end = to === undefined ? list.length : position(to, list.length)
  if (begin > end) throw new CelError(`invalid substring range. start: ${begin}, end: ${end}`)
  return list.slice(begin, end)
}

const replace: Implementation = (run, args) => {
  const [text, old, next] = texts(args)
  const limit = args[3] === undefined ? -1 : Number(args[3])
  const pieces = cut(run, text, { separator: old, limit: limit < 0 ? Number.POSITIVE_INFINITY : limit + 1 })
  run.budget.allocate(text.length + (pieces.length - 1) * next.length)
  return pieces.join(next)
}

interface Cutting {
  readonly separator: string
  /** Maximum number of pieces when splitting a string. The last piece contains the rest of the string. */
  readonly limit: number
}

/** Splits a string at a separator. With an empty separator, each character is a separate piece. */
function cut(run: Run, text: string, { separator, limit }: Cutting): string[] {
  beforeSearch(run, text, separator)
  run.budget.allocate(text.length)
  const all = separator === '' ? ['', ...lettersOf(run.budget, text), ''] : text.split(separator)
  if (all.length <= limit) return all
  const rest = all.slice(limit - 1).join(separator)
  return [...all.slice(0, limit - 1), rest]
}

const split: Implementation = (run, args) => {
  const [text, separator] = texts(args)
  const limit = args[2] === undefined ? -1 : Number(args[2])
  if (limit === 0) return new ArrayList([])
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit
  if (separator !== '') return new ArrayList(cut(run, text, { separator, limit: most }))
  const list = lettersOf(run.budget, text)
  return new ArrayList(list.length <= most ? list : [...list.slice(0, most - 1), list.slice(most - 1).join('')])
}

const join: Implementation = (run, [list, separator = '']) => {
  const items = (list as CelList).toArray()
  for (const item of items) {
    if (typeof item !== 'string') throw new CelError('no such overload')
    run.budget.allocate(item.length + (separator as string).length)
  }
  return items.join(separator as string)
}

const joining: Costs = {
  actual: () => 0,
  ofResult: (result) => traversal(sizeOf(result), 0.2),
  estimate: ([list, separator]) => {
    const items = list!.textSize ?? { min: 0, max: 0 }
    const gaps = { min: Math.max(list!.size.min - 1, 0), max: Math.max(list!.size.max - 1, 0) }
    const all = { min: times(list!.size.min, items.min), max: times(list!.size.max, items.max) }
    const between = separator?.size ?? { min: 0, max: 0 }
    const size = addSizes(all, { min: times(gaps.min, between.min), max: times(gaps.max, between.max) })
    return { cost: traversal(size.max), size }
  },
}

/** Converts the limit argument of `split` to a maximum number of pieces. A negative limit means no limit. */
function pieces(limit: number): number {
  return limit < 0 ? Number.POSITIVE_INFINITY : limit
}

/**
 * Estimates the cost and the result size of `replace`. The result can be longer than the string, depending on the
 * replaced text.
 */
function replacing([text, old, next]: readonly Estimated[]): CallEstimate {
  const { size } = text!
  const count = old!.size.min === 0 ? size.max + 1 : Math.ceil(size.max / old!.size.min)
  const grows = old!.size.min === 0 || next!.size.max > old!.size.min
  const kept = old!.size.min === 0 || !grows ? size.max : 0
  const max = (grows ? times(count, next!.size.max) : 0) + kept
  return { cost: traversal(size.max, 0.2), size: { min: 0, max } }
}

const whitespace = /^\p{White_Space}+|\p{White_Space}+$/gu

export const strings: Functions = new Map([
  ['contains', [define('string.(string) bool', includes, ofBoth)]],
  ['startsWith', [define('string.(string) bool', (_, args) => texts(args)[0].startsWith(texts(args)[1]), ofArgument)]],
  ['endsWith', [define('string.(string) bool', (_, args) => texts(args)[0].endsWith(texts(args)[1]), ofArgument)]],
  ['charAt', [define('string.(int) string', charAt)]],
  [
    'lowerAscii',
    [define('string.() string', (run, args) => mapAscii(run, texts(args)[0], /[A-Z]+/g), passes(1, sameSize))],
  ],
  [
    'upperAscii',
    [define('string.() string', (run, args) => mapAscii(run, texts(args)[0], /[a-z]+/g), passes(1, sameSize))],
  ],
  ['trim', [define('string.() string', (run, args) => trimmed(run, texts(args)[0]), passes(1, sameSize))]],
  [
    'substring',
    [
      define('string.(int) string', substring, passes(1, sameSize)),
      define('string.(int, int) string', substring, passes(1, sameSize)),
    ],
  ],
  [
    'replace',
    [
      define('string.(string, string) string', replace, { ...passes(2), estimate: replacing }),
      define('string.(string, string, int) string', replace, { ...passes(2), estimate: replacing }),
    ],
  ],
  [
    'split',
    [
      define(
        'string.(string) list(string)',
        split,
        passes(2, ({ max }) => ({ min: 0, max })),
      ),
      define('string.(string, int) list(string)', split, {
        ...passes(2),
        estimate: ([text, , limit]) => ({
          cost: traversal(text!.size.max, 0.2),
          size: { min: 0, max: typeof limit?.constant === 'number' ? pieces(limit.constant) : text!.size.max },
        }),
      }),
    ],
  ],
  ['join', [define('list(string).() string', join, joining), define('list(string).(string) string', join, joining)]],
])

export const textPositions = [
  [
    'indexOf',
    [define('string.(string) int', indexOf, searching), define('string.(string, int) int', indexOf, searching)],
  ],
  [
    'lastIndexOf',
    [define('string.(string) int', lastIndexOf, searching), define('string.(string, int) int', lastIndexOf, searching)],
  ],
] as const

function mapAscii({ budget }: Run, text: string, letters: RegExp): string {
  budget.allocate(text.length)
  return text.replaceAll(letters, (found) => (letters.source === '[A-Z]+' ? found.toLowerCase() : found.toUpperCase()))
}

function trimmed({ budget }: Run, text: string): string {
  budget.work(text.length)
  return text.replaceAll(whitespace, '')
}

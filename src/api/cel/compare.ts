/** Equality, order and size of CEL values. Numbers of different types can be compared. */
import type { Json } from '../json/json.ts'
import { JsonList, JsonMap, sameData } from './json-values.ts'
import type { Run } from './overload.ts'
import {
  CelError,
  CelList,
  CelMap,
  Double,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  UrlValue,
  type Value,
} from './values.ts'

export function equals(run: Run, a: Value, b: Value): boolean {
  if (a === b) return true
  if (typeof a === 'string' || typeof b === 'string') {
    run.budget.work(1)
    return false
  }
  if (a === null || b === null || typeof a === 'boolean' || typeof b === 'boolean') return false
  const order = numericOrder(a, b)
  if (order !== undefined) return order === 0
  if (a instanceof CelList && b instanceof CelList) return sameLists(run, a, b)
  if (a instanceof CelMap && b instanceof CelMap) return sameMaps(run, a, b)
  if (a instanceof Optional && b instanceof Optional)
    return a.value === undefined || b.value === undefined ? a.value === b.value : equals(run, a.value, b.value)
  return sameScalars(a, b)
}

function sameScalars(a: Value, b: Value): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  if (a instanceof Timestamp && b instanceof Timestamp) return a.nanos === b.nanos
  if (a instanceof Duration && b instanceof Duration) return a.nanos === b.nanos
  if (a instanceof TypeValue && b instanceof TypeValue) return a.name === b.name
  if (a instanceof Opaque && b instanceof Opaque) return a.kind === b.kind && a.text === b.text
  return a instanceof UrlValue && b instanceof UrlValue && a.text === b.text
}

function sameLists(run: Run, a: CelList, b: CelList): boolean {
  const work = (steps: number) => run.budget.work(steps)
  if (a instanceof JsonList && b instanceof JsonList)
    return sameData(a.json as Json[], b.json as Json[], { declared: a.declared, work })
  if (a.size !== b.size) return false
  work(a.size)
  if (a instanceof JsonList && a.declared.list === 'set') {
    for (const item of b) if (!contains(run, a, item)) return false
    return true
  }
  for (let i = 0; i < a.size; i++) if (!equals(run, a.get(i), b.get(i))) return false
  return true
}

export function contains(run: Run, list: CelList, item: Value): boolean {
  run.budget.work(list.size)
  for (let i = 0; i < list.size; i++) if (equals(run, list.get(i), item)) return true
  return false
}

function sameMaps(run: Run, a: CelMap, b: CelMap): boolean {
  const work = (steps: number) => run.budget.work(steps)
  if (a instanceof JsonMap && b instanceof JsonMap) return sameData(a.json, b.json, { declared: a.declared, work })
  if (a.size !== b.size) return false
  work(a.size)
  return a.keys().every((key) => {
    const left = a.get(key)
    const right = b.get(key)
    return left !== undefined && right !== undefined && equals(run, left, right)
  })
}

function numberIn(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  return value instanceof Double || value instanceof Uint ? value.value : undefined
}

/**
 * Compares two numbers. Returns undefined unless both values are numbers. NaN is neither greater nor less than any
 * number.
 */
function numericOrder(a: Value, b: Value): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const left = numberIn(a)
  const right = numberIn(b)
  if (left === undefined || right === undefined) return undefined
  // An int and a double are compared as doubles, as in cel-go, so large ints lose precision.
  if (a instanceof Double || b instanceof Double) return numericDifference(Number(left), Number(right))
  if (left < right) return -1
  return left > right ? 1 : 0
}

function numericDifference(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  return a === b ? 0 : Number.NaN
}

/** Compares two values of the same type. Returns a negative number, 0 or a positive number. */
export function order(a: Value, b: Value): number {
  const numeric = numericOrder(a, b)
  if (numeric !== undefined) return numeric
  if (typeof a === 'string' && typeof b === 'string')
    return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  const isTime = (a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Duration && b instanceof Duration)
  if (!isTime) throw new CelError('no such overload')
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
}

/** Matches a high surrogate, the first of the two UTF-16 code units that encode a character above U+FFFF. */
const pairStart = /[\ud800-\udbff]/
/** Maximum string length at which a loop is the fastest way to count the characters. */
const shortText = 50

/** Returns the length of a string in code points. JavaScript counts UTF-16 code units instead. */
export function lengthOf(text: string): number {
  // The regular expression engine skips strings of one-byte characters, which cannot match, and searches other strings
  // faster than a loop does.
  if (text.length > shortText && !pairStart.test(text)) return text.length
  let pairs = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0xd800 && code <= 0xdbff) pairs++
  }
  return text.length - pairs
}

/** Returns the result of `size()`, or 1 for a value without a size. The size determines the cost of most functions. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return lengthOf(value)
  if (value instanceof CelList || value instanceof CelMap) return value.size
  return value instanceof Uint8Array ? value.length : 1
}

/** Returns the size of the smaller of two values. For strings, avoids counting the characters of the longer one. */
export function smallerSize(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') {
    // A code point has at most two code units, so a string with at most half as many code units as another does not
    // have more code points.
    if (a.length * 2 <= b.length) return lengthOf(a)
    if (b.length * 2 <= a.length) return lengthOf(b)
  }
  return Math.min(sizeOf(a), sizeOf(b))
}

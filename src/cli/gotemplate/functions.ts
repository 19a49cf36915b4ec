/**
 * The functions of Go templates, with the two that kubectl adds: `exists` and `base64decode`. `and` and `or` are in
 * `execute.ts`, since they do not look at what they do not need. A function throws TypeError with what is wrong.
 */
import { isObject, own } from '../../model/json.ts'
import { printf } from './printf.ts'
import { isInteger, isTrue, plainText, typeName, type Value } from './values.ts'

type TemplateFunction = (...args: Value[]) => Value

const functions: { readonly [name: string]: TemplateFunction } = {
  not: (...args) => !isTrue(only(args)),
  len: (...args) => lengthOf(only(args)),
  index: (item, ...keys) => keys.reduce(elementOf, item),
  slice: (item, ...bounds) => sliceOf(item, bounds),
  print: (...args) => joined(args),
  println: (...args) => `${args.map(plainText).join(' ')}\n`,
  printf: (format, ...args) => printf(text(format, 'printf'), args),
  html: (...args) => joined(args).replaceAll(/["'&<>\0]/g, (letter) => htmlEscapes[letter]!),
  js: (...args) => javascript(joined(args)),
  urlquery: (...args) =>
    encodeURIComponent(joined(args))
      .replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%20', '+'),
  eq: (first, ...others) => isAnyEqual(first, others),
  ne: (a, b) => !isAnyEqual(a, [b]),
  lt: (a, b) => compare(a, b) < 0,
  le: (a, b) => compare(a, b) <= 0,
  gt: (a, b) => compare(a, b) > 0,
  ge: (a, b) => compare(a, b) >= 0,
  exists: (item, ...keys) => exists(item, keys),
  base64decode: (...args) => decoded(text(only(args), 'base64decode')),
}

/** Those that look at their arguments one by one. */
const lazy = ['and', 'or']

export const functionNames: ReadonlySet<string> = new Set([...Object.keys(functions), ...lazy])

/** Throws TypeError. */
export function callFunction(name: string, args: readonly Value[]): Value {
  const takesTwo = ['ne', 'lt', 'le', 'gt', 'ge'].includes(name)
  if (takesTwo && args.length !== 2) throw new TypeError(`wrong number of arguments: want 2 got ${args.length}`)
  if (args.length === 0 && !['print', 'println', 'html', 'js', 'urlquery'].includes(name))
    throw new TypeError('arguments are missing')
  return functions[name]!(...args)
}

function only(args: readonly Value[]): Value {
  if (args.length !== 1) throw new TypeError(`wrong number of arguments: want 1 got ${args.length}`)
  return args[0]
}

function text(value: Value, name: string): string {
  if (typeof value !== 'string') throw new TypeError(`${name} takes a text, not ${typeName(value)}`)
  return value
}

/** As Go's Sprint: a blank stands between two that are no texts. */
function joined(args: readonly Value[]): string {
  return args
    .map((arg, i) => {
      const apart = i > 0 && typeof arg !== 'string' && typeof args[i - 1] !== 'string'
      return `${apart ? ' ' : ''}${plainText(arg)}`
    })
    .join('')
}

function lengthOf(value: Value): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (Array.isArray(value)) return value.length
  if (isObject(value)) return Object.keys(value).length
  throw new TypeError(value == null ? 'len of nil' : `len of type ${typeName(value)}`)
}

function elementOf(item: Value, key: Value): Value {
  if (isObject(item)) {
    if (typeof key !== 'string') throw new TypeError(`the key of a map is a text, not ${typeName(key)}`)
    return own(item, key)
  }
  if (!Array.isArray(item) && typeof item !== 'string')
    throw new TypeError(item == null ? 'index of untyped nil' : `can't index item of type ${typeName(item)}`)
  const list = typeof item === 'string' ? [...Buffer.from(item)] : item
  return list[bound(key, list.length - 1)]
}

function bound(value: Value, most: number): number {
  if (!isInteger(value)) throw new TypeError(`cannot index slice/array with ${typeName(value)}`)
  const index = Number(value)
  if (index < 0 || index > most) throw new TypeError(`index out of range: ${index}`)
  return index
}

function sliceOf(item: Value, bounds: readonly Value[]): Value {
  if (typeof item !== 'string' && !Array.isArray(item))
    throw new TypeError(`can't slice item of type ${typeName(item)}`)
  const bytes = typeof item === 'string' ? Buffer.from(item) : undefined
  const length = bytes?.length ?? item.length
  if (bounds.length > (bytes === undefined ? 3 : 2)) throw new TypeError(`too many slice indexes: ${bounds.length}`)
  const [from = 0, to = length] = bounds.map((value) => bound(value, length))
  if (from > to) throw new TypeError(`invalid slice index: ${from} > ${to}`)
  return bytes === undefined ? (item as Value[] as never[]).slice(from, to) : bytes.subarray(from, to).toString()
}

const htmlEscapes: { readonly [letter: string]: string } = {
  ...{ '"': '&#34;', "'": '&#39;', '&': '&amp;', '<': '&lt;', '>': '&gt;', '\0': '\ufffd' },
}

function javascript(value: string): string {
  return value.replaceAll(/[\\'"<>&=]|\p{Cc}/gu, (letter) =>
    '\\\'"'.includes(letter) ? `\\${letter}` : `\\u${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )
}

function isAnyEqual(first: Value, others: readonly Value[]): boolean {
  if (others.length === 0) throw new TypeError('missing argument for comparison')
  for (const value of [first, ...others])
    if (typeof value === 'object' && value !== null) throw new TypeError(`uncomparable type ${typeName(value)}`)
  return others.some((other) => isEqual(first, other))
}

/** Numbers are compared whatever their kind. */
function isEqual(a: Value, b: Value): boolean {
  if (a == null || b == null) return a == null && b == null
  if (isNumber(a) && isNumber(b)) return order(a, b) === 0
  if (typeof a !== typeof b) throw new TypeError('incompatible types for comparison')
  return a === b
}

function compare(a: Value, b: Value): number {
  if (isNumber(a) && isNumber(b)) return order(a, b)
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  throw new TypeError(typeof a === typeof b ? 'invalid type for comparison' : 'incompatible types for comparison')
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function order(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function exists(item: Value, keys: readonly Value[]): boolean {
  try {
    return keys.reduce(elementOf, item) !== undefined
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

function decoded(value: string): string {
  if (!/^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(value.replaceAll(/[\r\n]/g, '')))
    throw new TypeError('illegal base64 data')
  return Buffer.from(value, 'base64').toString()
}

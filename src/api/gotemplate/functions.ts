/**
 * The built-in functions of Go templates, except for `and` and `or`, which do not evaluate all arguments and are
 * therefore in `execute.ts`. A function throws TypeError for an invalid argument.
 */
import { isObject, own } from '../json/json.ts'
import { printf } from './printf.ts'
import { isInteger, isTrue, plainText, typeName, type Value } from './values.ts'

/** A Go function that templates can call. Throws TypeError for invalid arguments. */
export type TemplateFunction = (...args: Value[]) => Value

/** Template functions by name. */
export type TemplateFunctions = ReadonlyMap<string, TemplateFunction>

/** The built-in functions of Go templates, except `and` and `or`. */
export const goFunctions: TemplateFunctions = new Map<string, TemplateFunction>([
  ['not', (...args) => !isTrue(only(args))],
  ['len', (...args) => lengthOf(only(args))],
  ['index', (...args) => some(args).slice(1).reduce(elementOf, args[0])],
  ['slice', (...args) => sliceOf(some(args)[0], args.slice(1))],
  ['print', (...args) => joined(args)],
  ['println', (...args) => `${args.map(plainText).join(' ')}\n`],
  ['printf', (...args) => printf(text(some(args)[0], 'printf'), args.slice(1))],
  ['html', (...args) => joined(args).replaceAll(/["'&<>\0]/g, (letter) => htmlEscapes[letter]!)],
  ['js', (...args) => javascript(joined(args))],
  ['urlquery', (...args) => urlQuery(joined(args))],
  ['eq', (...args) => isAnyEqual(some(args)[0], args.slice(1))],
  ['ne', ofTwo((a, b) => !isAnyEqual(a, [b]))],
  ['lt', ofTwo((a, b) => compare(a, b) < 0)],
  ['le', ofTwo((a, b) => compare(a, b) <= 0)],
  ['gt', ofTwo((a, b) => compare(a, b) > 0)],
  ['ge', ofTwo((a, b) => compare(a, b) >= 0)],
])

function ofTwo(call: (a: Value, b: Value) => Value): TemplateFunction {
  return (...args) => {
    if (args.length !== 2) throw new TypeError(`wrong number of arguments: want 2 got ${args.length}`)
    return call(args[0], args[1])
  }
}

function some(args: readonly Value[]): readonly Value[] {
  if (args.length === 0) throw new TypeError('missing arguments')
  return args
}

/** Returns the only argument of a function. Throws TypeError unless there is exactly one argument. */
export function only(args: readonly Value[]): Value {
  if (args.length !== 1) throw new TypeError(`wrong number of arguments: want 1 got ${args.length}`)
  return args[0]
}

/**
 * Returns a string argument. Throws TypeError for other types. `name` is the name of the function, for the error
 * message.
 */
export function text(value: Value, name: string): string {
  if (typeof value !== 'string') throw new TypeError(`${name} requires a string, not ${typeName(value)}`)
  return value
}

/** Joins operands like Go's Sprint, with a space between two operands if neither of them is a string. */
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

/** Returns the element of a list at an index, or the value of a key in a map. */
export function elementOf(item: Value, key: Value): Value {
  if (isObject(item)) {
    if (typeof key !== 'string') throw new TypeError(`a map key must be a string, not ${typeName(key)}`)
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

function urlQuery(value: string): string {
  return encodeURIComponent(value)
    .replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}

const htmlEscapes: { readonly [letter: string]: string } = {
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\0': '\ufffd',
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

/** Whether two values are equal. Numbers of different types are equal if their values are equal. */
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

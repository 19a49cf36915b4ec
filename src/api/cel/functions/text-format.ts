/** The function `strings.quote` and the string method `format`, available since Kubernetes 1.29. */
import { sizeOf } from '../compare.ts'
import { define, type Functions, type Implementation, introducedIn, type Run } from '../overload.ts'
import { traversal } from '../size.ts'
import { showDuration, showTimestamp } from '../time-text.ts'
import {
  CelError,
  CelList,
  CelMap,
  Double,
  Duration,
  type Int,
  kindOf,
  Opaque,
  Timestamp,
  TypeValue,
  Uint,
  UrlValue,
  type Value,
} from '../values.ts'
import { exponentialText, fixedText } from './decimal-text.ts'
import { quantityText } from './quantities.ts'

const escapes: { readonly [letter: string]: string } = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

function quote({ budget }: Run, text: string): string {
  budget.allocate(2 * text.length)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must be escaped
  return `"${text.toWellFormed().replaceAll(/[\u0007\b\f\n\r\t\v\\"]/g, (letter) => escapes[letter]!)}"`
}

const maxDepth = 100

/** Formats a value for the verb `%s`. */
function textOf(value: Value, depth = 0): string {
  if (depth > maxDepth) throw new CelError('value is nested too deeply')
  if (value === null) return 'null'
  if (typeof value !== 'object') return String(value)
  if (value instanceof Double) return doubleText(value.value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return showTimestamp(value)
  if (value instanceof Duration) return showDuration(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (value instanceof Opaque) return quantityText(value)
  if (value instanceof UrlValue) return value.text
  if (value instanceof CelList)
    return `[${value
      .toArray()
      .map((item) => textOf(item, depth + 1))
      .join(', ')}]`
  if (value instanceof CelMap) return mapText(value, depth)
  throw new CelError(`could not convert argument to string: ${kindOf(value)}`)
}

function mapText(map: CelMap, depth: number): string {
  const entries = map.keys().map((key) => `${textOf(key)}: ${textOf(map.get(key)!, depth + 1)}`)
  return `{${entries.sort().join(', ')}}`
}

function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? String(value) : value > 0 ? 'Infinity' : '-Infinity'
}

function integerIn(value: Value, clause: string): bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value as Int)
  if (value instanceof Uint) return value.value
  if (typeof value === 'boolean' && clause === 'binary') return value ? 1n : 0n
  throw new CelError(
    `error during formatting: ${clause} clause can only be used on integers, was given ${kindOf(value)}`,
  )
}

function numberIn(value: Value): number {
  if (value instanceof Double) return value.value
  if (value instanceof Uint || typeof value === 'number' || typeof value === 'bigint')
    return Number(value instanceof Uint ? value.value : value)
  throw new CelError(
    `error during formatting: fixed-point clause can only be used on doubles, was given ${kindOf(value)}`,
  )
}

function hexText(value: Value): string {
  return typeof value === 'string' || value instanceof Uint8Array
    ? Buffer.from(value as string).toString('hex')
    : integerIn(value, 'hex').toString(16)
}

/**
 * Formats a value for one verb of a format string. `precision` is the number of digits after the decimal point and
 * defaults to 6.
 */
function clauseText(clause: string, value: Value, precision: number): string {
  switch (clause) {
    case 's':
      return textOf(value)
    case 'd':
      return value instanceof Double && !Number.isFinite(value.value)
        ? doubleText(value.value)
        : String(integerIn(value, 'decimal'))
    case 'f':
      return Number.isFinite(numberIn(value)) ? fixedText(numberIn(value), precision) : doubleText(numberIn(value))
    case 'e':
      return exponentialText(numberIn(value), precision)
    case 'b':
      return integerIn(value, 'binary').toString(2)
    case 'o':
      return integerIn(value, 'octal').toString(8)
    case 'x':
      return hexText(value)
    case 'X':
      return hexText(value).toUpperCase()
    default:
      throw new CelError(`error during formatting: unrecognized formatting clause "${clause}"`)
  }
}

const maxPrecision = 100

const format: Implementation = ({ budget }, [pattern, list]) => {
  const text = pattern as string
  const values = (list as CelList).toArray()
  let used = 0
  let result = ''
  budget.allocate(text.length)
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '%') {
      result += text[at]
      continue
    }
    const [, precision, clause] = /^%(?:\.(\d{1,3}))?([\s\S]?)/.exec(text.slice(at, at + 6))!
    if (clause === '%' && precision === undefined) result += '%'
    else {
      if (clause === '') throw new CelError('error during formatting: unexpected end of format string')
      if (used >= values.length) throw new CelError(`index ${used} out of range`)
      if (Number(precision ?? 6) > maxPrecision) throw new CelError('error during formatting: precision is too large')
      const part = clauseText(clause!, values[used++]!, Number(precision ?? 6))
      budget.allocate(part.length)
      result += part
    }
    at += (precision === undefined ? 0 : precision.length + 1) + clause!.length
  }
  if (used < values.length) throw new CelError('too many arguments supplied to string format')
  return result
}

export const textFormat: Functions = introducedIn(
  29,
  new Map([
    [
      'strings.quote',
      [
        define('(string) string', (run, [text]) => quote(run, text as string), {
          actual: ([text]) => traversal(sizeOf(text!)),
          estimate: ([text]) => ({
            cost: traversal(text!.size.max),
            size: { min: text!.size.min + 2, max: 2 * text!.size.max + 2 },
          }),
        }),
      ],
    ],
    [
      'format',
      [
        define('string.(list(dyn)) string', format, {
          actual: ([pattern]) => traversal(sizeOf(pattern!)),
          estimate: ([pattern]) => ({ cost: traversal(pattern!.size.max) }),
        }),
      ],
    ],
  ]),
)

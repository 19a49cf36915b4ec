/** Functions that convert values between types, and the functions `type` and `dyn`. */
import { sizeOf } from '../compare.ts'
import { type Costs, define, type Functions, type Implementation } from '../overload.ts'
import { type Size, traversal } from '../size.ts'
import { readDuration, readTimestamp, showDuration, showTimestamp, timestampOf } from '../time-text.ts'
import { opaqueNames } from '../types.ts'
import {
  CelError,
  Double,
  type Duration,
  type Int,
  kindOf,
  maxInt,
  minInt,
  type Timestamp,
  TypeValue,
  toInt,
  type Uint,
  type Value,
} from '../values.ts'
import { toUint } from './operators.ts'

const same: Implementation = (_, [value]) => value!
const second = 1_000_000_000n

function cannot(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`)
}

function intOf(value: number): Int {
  // The bounds of the 64-bit range are rejected too, because a double cannot represent the upper bound exactly.
  if (!Number.isFinite(value) || value <= Number(minInt) || value >= Number(maxInt))
    throw new CelError('integer overflow')
  return toInt(BigInt(Math.trunc(value)))
}

const integer = /^[-+]?\d{1,40}$/
const decimal = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$|^[-+]?(?:Inf|inf|Infinity|infinity)$|^(?:NaN|nan)$/

function intOfText(text: string): Int {
  if (!integer.test(text)) throw cannot('string', 'int')
  const value = BigInt(text.replace('+', ''))
  if (value > maxInt || value < minInt) throw cannot('string', 'int')
  return toInt(value)
}

function doubleOfText(text: string): Double {
  if (text.length > 400 || !decimal.test(text)) throw cannot('string', 'double')
  if (/inf/i.test(text)) return new Double(text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY)
  return new Double(Number(text))
}

function boolOfText(text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false
  throw cannot('string', 'bool')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function textOfBytes(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

/** Formats a double in the style of Go's `%g`. */
function textOfDouble({ value }: Double): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const size = Math.abs(value)
  if (value === 0 || (size >= 1e-4 && size < 1e21)) return String(value)
  return value.toExponential().replace(/e([-+])(\d)$/, 'e$10$2')
}

const typeNames: { readonly [kind: string]: string } = {
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  optional: 'optional_type',
}

function typeNameOf(value: Value): string {
  const kind = kindOf(value)
  return typeNames[kind] ?? opaqueNames.get(kind) ?? kind
}

/** Returns the cost of traversing a whole string or all of its bytes. In UTF-8, a character has up to four bytes. */
function copying(resultSize: (size: Size) => Size): Costs {
  return {
    actual: ([value]) => traversal(sizeOf(value!)),
    estimate: ([value]) => ({ cost: traversal(value!.size.max), size: resultSize(value!.size) }),
  }
}

const double = (value: Value | undefined) => (value as Double).value

export const conversions: Functions = new Map([
  ['dyn', [define('(A) dyn', same)]],
  ['type', [define('(A) type(A)', (_, [value]) => new TypeValue(typeNameOf(value!)))]],
  [
    'int',
    [
      define('(int) int', same),
      define('(uint) int', (_, [value]) => toInt((value as Uint).value)),
      define('(double) int', (_, [value]) => intOf(double(value))),
      define('(string) int', (_, [value]) => intOfText(value as string)),
      define('(timestamp) int', (_, [value]) => toInt(floorSeconds((value as Timestamp).nanos))),
    ],
  ],
  [
    'uint',
    [
      define('(uint) uint', same),
      define('(int) uint', (_, [value]) => toUint(BigInt(value as Int))),
      define('(double) uint', (_, [value]) => uintOf(double(value))),
      define('(string) uint', (_, [value]) => toUint(BigInt(intOfText(value as string)))),
    ],
  ],
  [
    'double',
    [
      define('(double) double', same),
      define('(int) double', (_, [value]) => new Double(Number(value))),
      define('(uint) double', (_, [value]) => new Double(Number((value as Uint).value))),
      define('(string) double', (_, [value]) => doubleOfText(value as string)),
    ],
  ],
  ['bool', [define('(bool) bool', same), define('(string) bool', (_, [value]) => boolOfText(value as string))]],
  [
    'string',
    [
      define('(string) string', same),
      define('(int) string', (_, [value]) => String(value)),
      define('(uint) string', (_, [value]) => String((value as Uint).value)),
      define('(double) string', (_, [value]) => textOfDouble(value as Double)),
      define('(bool) string', (_, [value]) => String(value)),
      define(
        '(bytes) string',
        (_, [value]) => textOfBytes(value as Uint8Array),
        copying(({ min, max }) => ({ min: Math.floor(min / 4), max })),
      ),
      define('(timestamp) string', (_, [value]) => showTimestamp(value as Timestamp)),
      define('(duration) string', (_, [value]) => showDuration(value as Duration)),
    ],
  ],
  [
    'bytes',
    [
      define('(bytes) bytes', same),
      define(
        '(string) bytes',
        ({ budget }, [value]) => {
          budget.allocate((value as string).length)
          return Buffer.from(value as string)
        },
        copying(({ min, max }) => ({ min, max: max * 4 })),
      ),
    ],
  ],
  [
    'timestamp',
    [
      define('(timestamp) timestamp', same),
      define('(string) timestamp', (_, [value]) => readTimestamp(value as string)),
      define('(int) timestamp', (_, [value]) => timestampOf(BigInt(value as Int) * second)),
    ],
  ],
  [
    'duration',
    [define('(duration) duration', same), define('(string) duration', (_, [value]) => readDuration(value as string))],
  ],
])

function floorSeconds(nanos: bigint): bigint {
  const rest = ((nanos % second) + second) % second
  return (nanos - rest) / second
}

function uintOf(value: number): Uint {
  if (!Number.isFinite(value)) throw new CelError('unsigned integer overflow')
  return toUint(BigInt(Math.trunc(value)))
}

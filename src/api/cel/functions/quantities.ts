/** Quantities (available since Kubernetes 1.28) and semantic versions (1.33) as CEL types. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantitySign,
} from '../../model/quantity.ts'
import { sizeOf } from '../compare.ts'
import { type Costs, define, type Functions, type Implementation, introducedIn, joinTables } from '../overload.ts'
import { traversal } from '../size.ts'
import { CelError, Double, type Int, Opaque, toInt, type Value } from '../values.ts'

class Amount extends Opaque {
  readonly kind = 'quantity'
  readonly quantity: Quantity

  constructor(quantity: Quantity) {
    super()
    this.quantity = quantity
  }

  /** The quantity in billionths, so that equal quantities have the same text. */
  get text(): string {
    return String(this.quantity.nanos)
  }
}

const one = 1_000_000_000n
const maxShown = 100

/** The cost of parsing a quantity. As in Kubernetes, the estimate is one unit regardless of the length. */
const reading: Costs = { actual: ([text]) => traversal(sizeOf(text!)) }

function amountOf(text: Value | undefined): Amount {
  const quantity = parseQuantity(text as string)
  if (quantity === undefined)
    throw new CelError(
      `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': ${(text as string).slice(0, maxShown)}`,
    )
  return new Amount(quantity)
}

/** Returns a quantity as a CEL value. Throws CelError if the string is not a quantity. */
export function quantityValue(text: string): Value {
  return amountOf(text)
}

/** Returns the quantity of a CEL value, or undefined if the value is not a quantity. */
export function quantityOf(value: Value): Quantity | undefined {
  return value instanceof Amount ? value.quantity : undefined
}

const nanosIn = (value: Value | undefined) => (value as Amount).quantity.nanos

function compared(test: (order: number) => Value): Implementation {
  return (_, [a, b]) => test(compareQuantities((a as Amount).quantity, (b as Amount).quantity))
}

/** Returns a function that adds to or subtracts from a quantity. The second operand is a quantity or an integer. */
function plus(sign: 1n | -1n): Implementation {
  return (_, [a, b]) => {
    const other = b instanceof Amount ? b.quantity : { nanos: BigInt(b as Int) * one, form: 'decimal' as const }
    return new Amount(addQuantities((a as Amount).quantity, { ...other, nanos: sign * other.nanos }))
  }
}

function integerIn(value: Value | undefined): Int {
  const nanos = nanosIn(value)
  if (nanos % one !== 0n) throw new CelError('cannot convert value to integer')
  return toInt(nanos / one)
}

const int64Limit = 2n ** 63n * one
const isWhole = (nanos: bigint) => nanos % one === 0n && nanos < int64Limit && nanos >= -int64Limit

const sums = (sign: 1n | -1n) => [
  define('quantity.(quantity) quantity', plus(sign)),
  define('quantity.(int) quantity', plus(sign)),
]

const amounts: Functions = new Map([
  ['quantity', [define('(string) quantity', (_, [text]) => amountOf(text), reading)]],
  ['isQuantity', [define('(string) bool', (_, [text]) => parseQuantity(text as string) !== undefined, reading)]],
  ['sign', [define('(quantity) int', (_, [value]) => quantitySign((value as Amount).quantity))]],
  ['isInteger', [define('quantity.() bool', (_, [value]) => isWhole(nanosIn(value)))]],
  ['asInteger', [define('quantity.() int', (_, [value]) => integerIn(value))]],
  [
    'asApproximateFloat',
    [define('quantity.() double', (_, [value]) => new Double(Number(nanosIn(value)) / Number(one)))],
  ],
  [
    'isGreaterThan',
    [
      define(
        'quantity.(quantity) bool',
        compared((order) => order > 0),
      ),
    ],
  ],
  [
    'isLessThan',
    [
      define(
        'quantity.(quantity) bool',
        compared((order) => order < 0),
      ),
    ],
  ],
  [
    'compareTo',
    [
      define(
        'quantity.(quantity) int',
        compared((order) => order),
      ),
    ],
  ],
  ['add', sums(1n)],
  ['sub', sums(-1n)],
])

/** Returns the string form of a quantity for messages and JSON. */
export function quantityText(value: Opaque): string {
  return value instanceof Amount ? formatQuantity(value.quantity) : value.text
}

/** A version according to Semantic Versioning 2.0.0 (semver.org). Comparisons ignore build metadata. */
class Semver extends Opaque {
  readonly kind = 'semver'
  readonly numbers: readonly bigint[]
  readonly identifiers: readonly string[]

  constructor(numbers: readonly bigint[], identifiers: readonly string[]) {
    super()
    this.numbers = numbers
    this.identifiers = identifiers
  }

  get text(): string {
    return `${this.numbers.join('.')}-${this.identifiers.join('.')}`
  }
}

const core = /^(0|[1-9]\d{0,18})\.(0|[1-9]\d{0,18})\.(0|[1-9]\d{0,18})(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/

function readSemver(text: string, normalize: Value | undefined): Semver | undefined {
  const match = core.exec(normalize === true ? normalized(text) : text)
  if (match === null) return undefined
  const [, major, minor, patch, before, build] = match
  const identifiers = before === undefined ? [] : before.split('.')
  const isWrong = (each: string) => each === '' || /^0\d+$/.test(each)
  if (identifiers.some(isWrong) || build?.split('.').includes('')) return undefined
  return new Semver(
    [major, minor, patch].map((each) => BigInt(each!)),
    identifiers,
  )
}

/** Normalizes a semantic version. For example, `v1.02` becomes `1.2.0`. */
function normalized(text: string): string {
  const end = text.search(/[-+]/)
  const [numbers, rest] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end)]
  const parts = numbers.replace(/^v/, '').split('.', 4)
  if (parts.length > 3 || (parts.length < 3 && rest !== '')) return text
  while (parts.length < 3) parts.push('0')
  return parts.map((part) => part.replace(/^0+(?=\d)/, '')).join('.') + rest
}

function semverOf(text: Value | undefined, normalize: Value | undefined): Semver {
  const version = readSemver(text as string, normalize)
  if (version === undefined) throw new CelError(`invalid semantic version: ${(text as string).slice(0, maxShown)}`)
  return version
}

/** Returns a semantic version as a CEL value. Throws CelError if the string is not a semantic version. */
export function semverValue(text: string): Value {
  return semverOf(text, false)
}

function compareSemver(a: Semver, b: Semver): number {
  for (const [i, part] of a.numbers.entries()) if (part !== b.numbers[i]) return part < b.numbers[i]! ? -1 : 1
  // A semantic version without pre-release identifiers is newer than its pre-releases.
  if (a.identifiers.length === 0 || b.identifiers.length === 0)
    return Math.sign(b.identifiers.length - a.identifiers.length)
  for (const [i, part] of a.identifiers.entries()) {
    const other = b.identifiers[i]
    if (other === undefined) return 1
    if (part !== other) return compareIdentifiers(part, other)
  }
  return a.identifiers.length === b.identifiers.length ? 0 : -1
}

/** Compares two pre-release identifiers. Numeric identifiers sort before alphanumeric identifiers. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumber && isOtherNumber) return a.length === b.length ? (a < b ? -1 : 1) : a.length - b.length < 0 ? -1 : 1
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return a < b ? -1 : 1
}

function ordered(test: (order: number) => Value): Implementation {
  return (_, [a, b]) => test(compareSemver(a as Semver, b as Semver))
}

const isSemver: Implementation = (_, [text, normalize]) => readSemver(text as string, normalize) !== undefined
const partOf = (index: number) => [define('semver.() int', (_, [value]) => toInt((value as Semver).numbers[index]!))]

const versions: Functions = new Map([
  [
    'semver',
    [
      define('(string) semver', (_, [text]) => semverOf(text, false), reading),
      define('(string, bool) semver', (_, [text, normalize]) => semverOf(text, normalize), reading),
    ],
  ],
  ['isSemver', [define('(string) bool', isSemver, reading), define('(string, bool) bool', isSemver, reading)]],
  ['major', partOf(0)],
  ['minor', partOf(1)],
  ['patch', partOf(2)],
  [
    'compareTo',
    [
      define(
        'semver.(semver) int',
        ordered((order) => order),
      ),
    ],
  ],
  [
    'isLessThan',
    [
      define(
        'semver.(semver) bool',
        ordered((order) => order < 0),
      ),
    ],
  ],
  [
    'isGreaterThan',
    [
      define(
        'semver.(semver) bool',
        ordered((order) => order > 0),
      ),
    ],
  ],
])

export const quantities: Functions = joinTables([introducedIn(28, amounts), introducedIn(33, versions)])

/**
 * Quantities, which are amounts of a resource in textual form (`500m`, `1.5Gi`, `1e3`), stored exactly in billionths.
 *
 * Fractions of a billionth are rounded away from zero, so that a small request is never zero. Amounts with a binary
 * suffix are capped at 2^63-1. Formatting never switches between binary and decimal suffixes. A quantity is formatted
 * with the largest suffix that needs no fraction: `1024Mi` is `1Gi`, `0.1` is `100m`, `1.5Gi` is `1536Mi`. Length and
 * exponent are bounded, so that no input costs more than a few microseconds.
 */
export interface Quantity {
  readonly nanos: bigint
  readonly form: Form
}

/** `1500m`, `2G`; `1536Mi`, `2Gi`; `15e3`. */
type Form = 'decimal' | 'binary' | 'exponent'

const maxTextLength = 100
const largestExponent = 100
const nanosInOne = 1_000_000_000n
const largestBinary = (2n ** 63n - 1n) * nanosInOne

const decimalExponents = new Map(Object.entries({ n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }))
const decimalSuffixes = new Map(Array.from(decimalExponents, ([suffix, exponent]) => [exponent, suffix]))
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/**
 * A quantity, split into sign, digits and suffix. `-1.50Ki` has the digits 1 and 50, the binary form and the exponent
 * 10.
 */
interface Parts {
  readonly negative: boolean
  /** Digits before the decimal point, without leading zeros, or `0`. */
  readonly whole: string
  readonly fraction: string
  readonly form: Form
  /** Exponent of the suffix: a power of ten or, in binary form, of two. */
  readonly exponent: number
}

/** Parses a quantity. Returns undefined if the string is not a quantity. */
export function parseQuantity(text: string): Quantity | undefined {
  const plain = parsePlain(text)
  if (plain !== undefined) return plain
  const parts = takeApart(text)
  return parts && amountOf(parts)
}

/** Common suffixes as quantities, for the fast path of the parser. */
const plainUnits = new Map<string, Quantity>([
  ...['m', '', 'k', 'M', 'G'].map((suffix): [string, Quantity] => [
    suffix,
    { nanos: 10n ** BigInt(9 + decimalExponents.get(suffix)!), form: 'decimal' },
  ]),
  ...['Ki', 'Mi', 'Gi'].map((suffix): [string, Quantity] => [
    suffix,
    { nanos: nanosInOne << BigInt(10 * binarySuffixes.indexOf(suffix)), form: 'binary' },
  ]),
])

/**
 * Parses the most common quantities quickly: those with few digits and a common suffix. Every write of a pod parses
 * quantities multiple times.
 */
function parsePlain(text: string): Quantity | undefined {
  let digits = 0
  while (isDigit(text.charCodeAt(digits))) digits++
  if (digits === 0 || digits > 6 || text.charCodeAt(0) === 0x30) return undefined
  const unit = plainUnits.get(text.slice(digits))
  return unit && { nanos: BigInt(text.slice(0, digits)) * unit.nanos, form: unit.form }
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

/** Formats a quantity canonically, for example as `1Gi` or `100m`. */
export function formatQuantity({ nanos, form }: Quantity): string {
  if (nanos === 0n) return '0'
  return (form === 'binary' ? formatBinary(nanos) : undefined) ?? formatDecimal(nanos, form)
}

/**
 * Returns the canonical form of a quantity, or undefined if the string is not a quantity. A quantity whose scale
 * already matches a suffix remains unchanged, so `1.250` remains `1.250` and `1.25` becomes `1250m`.
 */
export function canonicalQuantity(text: string): string | undefined {
  if (settled.test(text) || (plainNumber.test(text) && !text.endsWith('000'))) return text
  const parts = takeApart(text)
  if (parts === undefined) return undefined
  return staysAsWritten(parts) ? text : formatQuantity(amountOf(parts))
}

/** Compares two quantities by their amounts. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  if (a.nanos === b.nanos) return 0
  return a.nanos < b.nanos ? -1 : 1
}

/** Returns the sign of a quantity: -1, 0 or 1. */
export function quantitySign({ nanos }: Quantity): -1 | 0 | 1 {
  if (nanos === 0n) return 0
  return nanos < 0n ? -1 : 1
}

/** Adds two quantities. The sum has the form of the first operand that is not zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, form: a.nanos === 0n ? b.form : a.form }
}

/** Rounds a quantity away from zero to whole thousandths. */
export function roundUpToMilli({ nanos, form }: Quantity): Quantity {
  return { nanos: divideUp(nanos, 1_000_000n) * 1_000_000n, form }
}

/**
 * Returns the amount as Kubernetes converts it to 64 bits, rounded up. If an amount with a large suffix or exponent
 * overflows, the result is 0. For other amounts, the result is the lowest 64 bits. The string must be a quantity.
 */
export function int64Value(text: string): bigint {
  const parts = takeApart(text)!
  const value = divideUp(amountOf(parts).nanos, nanosInOne)
  const bits = BigInt.asIntN(64, value)
  return bits !== value && overflowsToZero(parts) ? 0n : bits
}

/**
 * Whether the amount becomes 0 when it overflows. Go's `resource.Quantity` stores up to 18 digits and a power of ten,
 * and multiplies by this power without checking for overflow.
 */
function overflowsToZero({ whole, fraction, form, exponent }: Parts): boolean {
  return (
    form !== 'binary' && whole.length + fraction.length <= 18 && ![1, 2, 3, 6, 9].includes(exponent - fraction.length)
  )
}

// Matches a quantity. No two adjacent parts can match the same character, so the pattern cannot backtrack.
const pattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([A-Za-z]+)([+-]?[0-9]*))?$/

/** Matches canonical quantities with up to three digits and a suffix, for a fast path. */
const settled = /^[1-9][0-9]{0,2}(?:m|[kMG]|[KMG]i)$/
/** Matches integers without a suffix. They are canonical unless divisible by 1000. */
const plainNumber = /^[1-9][0-9]{0,17}$/

function takeApart(text: string): Parts | undefined {
  const match = text.length > maxTextLength ? null : pattern.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', letters = '', power = ''] = match
  const scale = scaleOf(letters, power)
  if (scale === undefined || whole + fraction === '') return undefined
  return { negative: sign === '-', whole: String(BigInt(whole)), fraction, ...scale }
}

function scaleOf(letters: string, power: string): Pick<Parts, 'form' | 'exponent'> | undefined {
  if (power !== '') return letters === 'e' || letters === 'E' ? scaleOfPower(Number(power)) : undefined
  const exponent = decimalExponents.get(letters)
  if (exponent !== undefined) return { form: 'decimal', exponent }
  const place = binarySuffixes.indexOf(letters)
  return place < 0 ? undefined : { form: 'binary', exponent: place * 10 }
}

function scaleOfPower(exponent: number): Pick<Parts, 'form' | 'exponent'> | undefined {
  return Math.abs(exponent) <= largestExponent ? { form: 'exponent', exponent } : undefined
}

function amountOf({ negative, whole, fraction, form, exponent }: Parts): Quantity {
  const digits = BigInt(whole + fraction)
  const nanos =
    form === 'binary'
      ? smaller(shift(digits << BigInt(exponent), 9 - fraction.length), largestBinary)
      : shift(digits, 9 + exponent - fraction.length)
  return { nanos: negative ? -nanos : nanos, form: form === 'binary' && nanos < nanosInOne ? 'decimal' : form }
}

/** Returns `amount` multiplied by ten to the power of `places`, rounded up. */
function shift(amount: bigint, places: number): bigint {
  return places < 0 ? divideUp(amount, 10n ** BigInt(-places)) : amount * 10n ** BigInt(places)
}

function divideUp(amount: bigint, by: bigint): bigint {
  const quotient = amount / by
  if (amount % by === 0n) return quotient
  return amount < 0n ? quotient - 1n : quotient + 1n
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/**
 * Formats a quantity with a binary suffix. Returns undefined for a fraction and for amounts that are too small for a
 * suffix.
 */
function formatBinary(nanos: bigint): string | undefined {
  let amount = nanos / nanosInOne
  if (nanos % nanosInOne !== 0n || (amount > -1024n && amount < 1024n)) return undefined
  let place = 0
  for (; amount % 1024n === 0n; place++) amount /= 1024n
  return `${amount}${binarySuffixes[place]}`
}

function formatDecimal(nanos: bigint, form: Form): string {
  const digits = String(nanos)
  const zeros = trailingZeros(digits)
  const dropped = zeros - (zeros % 3)
  const exponent = dropped - 9
  const suffix = form === 'exponent' ? undefined : decimalSuffixes.get(exponent)
  return digits.slice(0, digits.length - dropped) + (suffix ?? (exponent === 0 ? '' : `e${exponent}`))
}

function trailingZeros(digits: string): number {
  let start = digits.length
  while (digits[start - 1] === '0') start--
  return digits.length - start
}

// Whether formatting leaves a quantity as it was written. As in Kubernetes, long quantities are normalized.
function staysAsWritten({ whole, fraction, form, exponent }: Parts): boolean {
  if (form === 'binary') {
    const fits = whole.length + Math.floor((exponent * 3) / 10) <= 14
    return fraction === '' && fits && BigInt(whole) % 8n !== 0n
  }
  const digits = whole + fraction
  const scale = exponent - fraction.length
  const tidy = !digits.startsWith('0') && !digits.endsWith('000')
  return tidy && digits.length <= 18 && scale >= -9 && scale % 3 === 0
}

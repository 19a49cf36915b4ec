/**
 * Formats doubles like Go. Unlike JavaScript, Go rounds a number halfway between two results to the even digit, and
 * never switches to exponents.
 */

const maxDigits = 100
/** A number that is still halfway after this many further digits is exactly halfway. */
const exactDigits = 60

/** Returns the number with this many digits after the point: `3.14`. */
export function fixedText(value: number, precision: number): string {
  if (Math.abs(value) < 1e21) return roundedToEven((digits) => value.toFixed(digits), precision)
  return `${BigInt(value)}${precision === 0 ? '' : `.${'0'.repeat(precision)}`}`
}

/** Returns the number with one digit before the point and an exponent of at least two digits: `3.14e+00`. */
export function exponentialText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return String(value)
  const partsOf = (digits: number) => value.toExponential(digits).split('e')
  const exponent = partsOf(maxDigits)[1]!
  // Rounding up to the next power of ten changes the exponent, and the result does not end with an odd digit.
  const [rounded, newExponent = ''] = partsOf(precision)
  const mantissa = newExponent === exponent ? roundedToEven((digits) => partsOf(digits)[0]!, precision) : rounded
  return `${mantissa}e${newExponent[0]}${newExponent.slice(1).padStart(2, '0')}`
}

function roundedToEven(format: (digits: number) => string, precision: number): string {
  const exact = format(Math.min(precision + exactDigits, maxDigits))
  const point = exact.indexOf('.')
  if (point < 0 || !/^50*$/.test(exact.slice(point + 1 + precision))) return format(precision)
  const cut = exact.slice(0, precision === 0 ? point : point + 1 + precision)
  return '02468'.includes(cut.at(-1)!) ? cut : format(precision)
}

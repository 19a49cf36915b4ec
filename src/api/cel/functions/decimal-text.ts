/**
 * Formats doubles as Go does. Unlike JavaScript, Go rounds a number that is exactly halfway between two results to the
 * even digit, and never switches to an exponent.
 */

const maxDigits = 100
/**
 * Number of additional digits to examine for rounding. If these digits all agree with the midpoint between two results,
 * the number is exactly that midpoint.
 */
const exactDigits = 60

/** Formats a number with a fixed number of digits after the decimal point, as in `3.14`. */
export function fixedText(value: number, precision: number): string {
  if (Math.abs(value) < 1e21) return roundedToEven((digits) => value.toFixed(digits), precision)
  return `${BigInt(value)}${precision === 0 ? '' : `.${'0'.repeat(precision)}`}`
}

/**
 * Formats a number with one digit before the decimal point and an exponent of at least two digits, as in `3.14e+00`.
 */
export function exponentialText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return String(value)
  const partsOf = (digits: number) => value.toExponential(digits).split('e')
  const exponent = partsOf(maxDigits)[1]!
  // If rounding up reaches the next power of ten, the exponent increases and the last digit is 0.
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

/**
 * The order of keys in the YAML that kubectl and other Go programs write: punctuation before letters (`A_B` before
 * `AB`), and digits by their numeric value (`k2` before `k10`).
 */
const letter = /\p{L}/u

/** Compares two keys at their first difference, for use with `sort`. */
export function compareKeys(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at > 0 && isSecondHalf(a, at)) at--
  if (at >= a.length || at >= b.length) return a.length - b.length
  const mine = a.codePointAt(at)!
  const other = b.codePointAt(at)!
  const isLetter = letter.test(String.fromCodePoint(mine))
  const otherIsLetter = letter.test(String.fromCodePoint(other))
  if (isLetter !== otherIsLetter) return (isLetter ? 1 : -1) * (isNumberLonger(isLetter ? b : a, at) ? -1 : 1)
  return (isLetter ? 0 : compareDigits(a, b, at)) || mine - other
}

/**
 * Whether there is a digit both before and at this position. If so, the number continues and is therefore greater than
 * a number that ends before this position.
 */
function isNumberLonger(text: string, at: number): boolean {
  return /^\d\d$/.test(text.slice(Math.max(0, at - 1), at + 1))
}

function isSecondHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/**
 * Compares the numbers that start at the given position. Equal numbers are ordered by length, shorter first. Returns 0
 * if their lengths are also equal.
 */
function compareDigits(a: string, b: string, at: number): number {
  const mine = digitsAt(a, at)
  const other = digitsAt(b, at)
  // A zero inside a number sorts after all other digits in the same position: 10 sorts after 2, and 100 after 19.
  const isWithin = (a[at] === '0' || b[at] === '0') && endsWithNumber(a, at)
  const lead = isWithin ? '1' : '0'
  return Number(lead + mine) - Number(lead + other) || mine.length - other.length
}

/**
 * Whether a nonzero number ends before the given position. The function is linear, whereas `/[1-9]\d*$/` would be
 * quadratic.
 */
function endsWithNumber(text: string, before: number): boolean {
  for (let at = before - 1; at >= 0 && text[at]! >= '0' && text[at]! <= '9'; at--) if (text[at] !== '0') return true
  return false
}

function digitsAt(text: string, at: number): string {
  return /^\d*/.exec(text.slice(at, at + 18))![0]
}

/**
 * The order of keys in YAML, as kubectl and other programs in Go write them: signs before letters (`A_B` before `AB`), and
 * digits by the number that they are (`k2` before `k10`).
 */
const letter = /\p{L}/u

/** For `sort`. Keys are compared where they first differ. */
export function compareKeys(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at > 0 && isSecondHalf(a, at)) at--
  if (at >= a.length || at >= b.length) return a.length - b.length
  const [mine, other] = [a.codePointAt(at)!, b.codePointAt(at)!]
  const isLetter = letter.test(String.fromCodePoint(mine))
  const otherIsLetter = letter.test(String.fromCodePoint(other))
  if (isLetter !== otherIsLetter) return (isLetter ? 1 : -1) * (isNumberLonger(isLetter ? b : a, at) ? -1 : 1)
  return (isLetter ? 0 : compareDigits(a, b, at)) || mine - other
}

/** Whether a digit goes on with a number here: then what has a letter in its place has the smaller number. */
function isNumberLonger(text: string, at: number): boolean {
  return /^\d\d$/.test(text.slice(Math.max(0, at - 1), at + 1))
}

function isSecondHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** By the numbers that begin here, and of equal ones the shorter first; 0 where they say nothing. */
function compareDigits(a: string, b: string, at: number): number {
  const [mine, other] = [digitsAt(a, at), digitsAt(b, at)]
  // Within a number a zero counts as its next digit: 10 comes after 2, as 100 after 19.
  const isWithin = (a[at] === '0' || b[at] === '0') && endsWithNumber(a, at)
  const lead = isWithin ? '1' : '0'
  return Number(lead + mine) - Number(lead + other) || mine.length - other.length
}

/** Whether a number other than zero ends before this place. Linear, where `/[1-9]\d*$/` is quadratic. */
function endsWithNumber(text: string, before: number): boolean {
  for (let at = before - 1; at >= 0 && text[at]! >= '0' && text[at]! <= '9'; at--) if (text[at] !== '0') return true
  return false
}

function digitsAt(text: string, at: number): string {
  return /^\d*/.exec(text.slice(at, at + 18))![0]
}

/**
 * Estimates the compiled size of a pattern from its text, because a short pattern such as `x{1000}` can have a thousand
 * steps. Nested repetitions multiply the number of steps, and Unicode classes are slow to build, especially
 * case-insensitive ones. The estimate counts steps of the compiled pattern and is never far below the actual cost. The
 * engine decides whether the pattern is valid.
 */

/** Cost of a Unicode class such as `\pL`, in steps. The second number applies to case-insensitive patterns. */
const unicodeClass = 75
const unicodeClassFolded = 200
/** Cost of a large range in a case-insensitive pattern. The compiler visits each character in the range. */
const wideRangeFolded = 3000

interface Reader {
  readonly text: string
  at: number
  /** Whether the pattern is case-insensitive, at least in part. */
  readonly folded: boolean
}

/** Returns the estimated number of steps of the compiled pattern. */
export function estimateSize(pattern: string): number {
  const reader: Reader = { text: pattern, at: 0, folded: /\(\?[A-Za-z]*i/.test(pattern) }
  const outer: number[] = []
  let sum = 0
  let last = 0
  while (reader.at < pattern.length) {
    const character = pattern[reader.at]!
    const times = character === '{' ? repetition(reader) : undefined
    if (times !== undefined) {
      sum += last * (times - 1) + times
      last = last * times + times
    } else if (character === '(') {
      reader.at += 1
      outer.push(sum)
      sum = 0
      last = 0
    } else if (character === ')') {
      reader.at += 1
      last = sum + 2
      sum = (outer.pop() ?? 0) + last
    } else {
      last = atomSize(reader)
      sum += last
    }
  }
  for (const size of outer) sum += size
  return sum
}

/**
 * Returns the largest number in a quantifier `{n}`, `{n,}` or `{n,m}`, but at least 1. Returns undefined if the text is
 * not a quantifier.
 */
function repetition(reader: Reader): number | undefined {
  const counted = /\{(\d{1,9})(?:,(\d{0,9}))?\}/y
  counted.lastIndex = reader.at
  const match = counted.exec(reader.text)
  if (match === null) return undefined
  reader.at = counted.lastIndex
  return Math.max(Number(match[1]), Number(match[2] || 0), 1)
}

function atomSize(reader: Reader): number {
  const character = reader.text[reader.at]!
  if (character === '[') return classSize(reader)
  if (character === '\\') return escapeSize(reader)
  reader.at += 1
  return 1
}

/**
 * Estimates the size of an escape: one step, or more for a Unicode class. In `\Q...\E`, each character counts
 * separately. A name in braces is limited to a hundred characters, because many unclosed braces would otherwise take
 * quadratic time.
 */
function escapeSize(reader: Reader): number {
  const unicode = /\\[pP](?:\{[^}]{0,100}\}|.)?/sy
  unicode.lastIndex = reader.at
  if (unicode.test(reader.text)) {
    reader.at = unicode.lastIndex
    return reader.folded ? unicodeClassFolded : unicodeClass
  }
  const escaped = /\\(?:x\{[^}]{0,100}\}|.|$)/sy
  escaped.lastIndex = reader.at
  escaped.test(reader.text)
  reader.at = Math.max(escaped.lastIndex, reader.at + 1)
  return 1
}

/**
 * Returns the size of a character class, which ends at the closing bracket. A closing bracket at the start is a
 * literal.
 */
function classSize(reader: Reader): number {
  const { text, folded } = reader
  let size = 1
  reader.at += text[reader.at + 1] === '^' ? 2 : 1
  for (let first = true; reader.at < text.length; first = false) {
    const character = text[reader.at]!
    if (character === ']' && !first) {
      reader.at += 1
      return size
    }
    if (character === '\\') size += escapeSize(reader)
    else reader.at += character === '[' && text[reader.at + 1] === ':' ? 2 : 1
    if (folded && text[reader.at] === '-') size += rangeSize(text, reader.at)
  }
  return size
}

/**
 * Returns the size of a range. ASCII ranges are cheap. Any other range is assumed to cost as much as the longest
 * possible range.
 */
function rangeSize(text: string, dash: number): number {
  return /^[!-[\]-~]-[!-[\]-~]$/.test(text.slice(dash - 1, dash + 2)) ? 1 : wideRangeFolded
}

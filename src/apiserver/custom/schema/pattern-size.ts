/**
 * Estimates the compiled size of a pattern from its text: `x{1000}` has seven characters and a thousand steps. Counted
 * repetitions multiply, and Unicode classes are slow to build, especially if case-insensitive. The estimate is in steps
 * of the compiled pattern and never far below the actual cost. The engine decides whether the pattern is valid.
 */

/** Cost of Unicode classes (`\pL`) and ranges, in equivalent steps. */
const unicodeClass = 75
const unicodeClassFolded = 200
/** A case-insensitive range visits each of its characters. */
const wideRangeFolded = 3000

interface Reader {
  readonly text: string
  at: number
  /** Whether any part of the pattern is case-insensitive. */
  readonly folded: boolean
}

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

/** Returns how often `{n}`, `{n,}` or `{n,m}` repeats the preceding item; undefined if the text is no repetition. */
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
 * An escape counts as one step, except for Unicode classes. `\Q...\E` is read character by character. Names in braces
 * are limited to a hundred characters; otherwise many unclosed braces would be quadratic.
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

/** Reads up to the closing bracket. A bracket at the start is a literal. */
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

/** ASCII ranges are cheap. All others count as the longest range. */
function rangeSize(text: string, dash: number): number {
  return /^[!-[\]-~]-[!-[\]-~]$/.test(text.slice(dash - 1, dash + 2)) ? 1 : wideRangeFolded
}

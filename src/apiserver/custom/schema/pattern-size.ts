/**
 * How large a pattern may become when it is compiled, estimated from its text alone: `x{1000}` is seven characters and a
 * thousand steps. Counted repetitions multiply, and classes of Unicode take long to build, more so where case does not
 * count. The estimate is in steps of the compiled pattern and is never far below what compiling takes; whether the
 * pattern is valid is for the engine to say.
 */

/** Unicode classes (`\pL`) and ranges, in steps that take as long to compile. */
const unicodeClass = 75
const unicodeClassFolded = 200
/** Each character of a range is looked at where case does not count. */
const wideRangeFolded = 3000

interface Reader {
  readonly text: string
  at: number
  /** Whether case may not count, anywhere in the pattern. */
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

/** How often `{n}`, `{n,}` or `{n,m}` repeats what stands before it; undefined: it is no such thing. */
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
 * An escape is one step, but for Unicode classes; `\Q...\E` is read character by character. No name in braces is longer than a
 * hundred characters: without a bound, many braces that nobody closes would be quadratic.
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

/** Up to the closing bracket; one that comes first stands for itself. */
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

/** Ranges of ASCII are short, all others count as if they were the longest. */
function rangeSize(text: string, dash: number): number {
  return /^[!-[\]-~]-[!-[\]-~]$/.test(text.slice(dash - 1, dash + 2)) ? 1 : wideRangeFolded
}

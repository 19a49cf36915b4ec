/**
 * Fits help into the terminal: rewraps paragraphs, and puts descriptions next to their flags and commands or, on a
 * narrow terminal, below them. Examples stay on one line, because users copy them.
 */
import { fillLines } from '../../../base/text/fill-lines.ts'

/** Minimum width, in characters, for a description next to its flag. */
const narrowest = 40
/** Maximum line width in characters. Longer lines would be hard to read. */
const widest = 120

export function fitText(text: string, width: number): string {
  return inParagraphs(text.split('\n'))
    .flatMap((line) => fitLine(line, width))
    .join('\n')
}

/** Joins consecutive lines without indentation into a paragraph. */
function inParagraphs(lines: readonly string[]): string[] {
  const joined: string[] = []
  for (const line of lines) {
    const before = joined.at(-1) ?? ''
    if (/^\S/.test(line) && /^\S/.test(before)) joined[joined.length - 1] = `${before} ${line}`
    else joined.push(line)
  }
  return joined
}

function fitLine(line: string, width: number): string[] {
  if (/^\S/.test(line)) return fillLines(line, Math.min(width, widest))
  const head = /^ *\S.*?\S {2,}(?=\S)/.exec(line)?.[0]
  if (head === undefined || line.length <= width) return [line]
  const rest = line.slice(head.length)
  const room = width - head.length
  if (room >= narrowest)
    return fillLines(rest, room).map((part, i) => (i === 0 ? head : ' '.repeat(head.length)) + part)
  const margin = ' '.repeat(10)
  return [head.trimEnd(), ...fillLines(rest, width - margin.length).map((part) => margin + part)]
}

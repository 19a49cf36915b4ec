/**
 * Help that fits a terminal: paragraphs are filled anew, and what stands right of a flag or a command goes on below
 * itself, or below the flag where little room is left beside it. Examples stay whole, since people copy them.
 */
import { fillLines } from '../../../base/text/fill-lines.ts'

/** Narrower than this, what explains a flag stands below it. */
const narrowest = 40
/** Longer lines are hard to read, however wide the terminal is. */
const widest = 120

export function fitText(text: string, width: number): string {
  return inParagraphs(text.split('\n'))
    .flatMap((line) => fitLine(line, width))
    .join('\n')
}

/** Lines that begin at the margin and follow each other are one. */
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

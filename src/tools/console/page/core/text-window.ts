/**
 * The newest part of a growing text, such as a log or terminal output. Escape sequences are removed and other control
 * characters are made visible. Older lines are discarded, so that a long log does not exhaust memory.
 */
import { shownLines } from './text.ts'

const maxLines = 5_000
const maxLineLength = 10_000

/**
 * Matches CSI and OSC sequences, which set colors and titles, and single-character escapes. The number of repetitions
 * in the pattern is limited.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const escapes = /\u001b(?:\[[\d;?]{0,32}[ -/]{0,4}[@-~]|\][^\u0007\u001b]{0,200}(?:\u0007|\u001b\\)|[@-Z\\-_])/g

export class TextWindow {
  #lines: string[] = []
  #last = ''
  #dropped = 0

  /** Number of lines that were discarded so far. */
  get dropped(): number {
    return this.#dropped
  }

  append(text: string): void {
    const parts = text.replaceAll('\r\n', '\n').split('\n')
    this.#last = withReturns(this.#last + parts[0])
    for (const part of parts.slice(1)) {
      this.#lines.push(this.#last)
      this.#last = withReturns(part)
    }
    const excess = this.#lines.length - maxLines
    if (excess <= 0) return
    this.#lines = this.#lines.slice(excess)
    this.#dropped += excess
  }

  get text(): string {
    const lines = this.#last === '' ? this.#lines : [...this.#lines, this.#last]
    return lines.map((line) => shownLines(line.replace(escapes, ''), maxLineLength)).join('\n')
  }
}

/** Applies carriage returns. After a lone carriage return, the line starts over, as in progress bars. */
function withReturns(line: string): string {
  const lineText = line.endsWith('\r') ? line.slice(0, -1) : line
  return lineText.slice(lineText.lastIndexOf('\r') + 1).slice(0, 4 * maxLineLength)
}

/**
 * Reads the lines of a log file in one of the formats that container runtimes write: `TIME STREAM TAGS TEXT`, or JSON
 * with the fields `log`, `stream` and `time`. Any other line is treated as text without a time.
 */
import type { ContainerLog, LogLine } from '../../node-port/container-log.ts'

/** Maximum length of a line. A longer line is split. */
const maxLineLength = 16 * 1024

interface ParsedLine extends LogLine {
  /** Whether the next line continues this line. */
  readonly isPartial: boolean
}

const runtimeLine = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,20}) (stdout|stderr) ([FP])(?::\S*)? (.*)$/s

/** Splits text that arrives in chunks into lines, and appends the lines to a log. */
export class LogLineReader {
  readonly #log: ContainerLog
  readonly #now: () => number
  #rest = ''
  /** The beginning of a line that the runtime has split. */
  #begun = ''
  #lastTime = 0

  constructor(log: ContainerLog, now: () => number) {
    this.#log = log
    this.#now = now
  }

  write(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    this.#log.appendLines(lines.flatMap((line) => this.#completed(line)))
    if (this.#rest.length > maxLineLength) this.flush()
  }

  /** Appends the last line, even if it does not end with a line break. */
  flush(): void {
    if (this.#rest !== '') this.#log.appendLines(this.#completed(this.#rest))
    this.#rest = ''
  }

  /** Returns a list that contains the completed log line, or an empty list if the next line continues this line. */
  #completed(line: string): LogLine[] {
    const { time, text, stream, isPartial } = parseLine(line, this.#now())
    const whole = this.#begun + text
    this.#begun = isPartial && whole.length <= maxLineLength ? whole : ''
    if (this.#begun !== '') return []
    // Times must not decrease, because readers use a binary search to find lines by time.
    this.#lastTime = Math.max(this.#lastTime, time)
    return [{ time: this.#lastTime, text: whole, stream }]
  }
}

function parseLine(line: string, now: number): ParsedLine {
  const [, time = '', stream, tag, text = ''] = runtimeLine.exec(line) ?? []
  if (stream !== undefined)
    return { time: Date.parse(time) || now, text, stream: streamOf(stream), isPartial: tag === 'P' }
  return (line.startsWith('{"log":') ? parseJsonLine(line, now) : undefined) ?? plainLine(line, now)
}

function plainLine(text: string, time: number): ParsedLine {
  return { time, text, stream: 'stdout', isPartial: false }
}

function parseJsonLine(line: string, now: number): ParsedLine | undefined {
  let value: { readonly log?: unknown; readonly stream?: unknown; readonly time?: unknown }
  try {
    value = JSON.parse(line) as typeof value
  } catch {
    // A line that is not valid JSON is treated as plain text.
    return undefined
  }
  if (typeof value.log !== 'string') return undefined
  const isPartial = !value.log.endsWith('\n')
  const text = isPartial ? value.log : value.log.slice(0, -1)
  return { time: Date.parse(String(value.time)) || now, text, stream: streamOf(value.stream), isPartial }
}

function streamOf(name: unknown): LogLine['stream'] {
  return name === 'stderr' ? 'stderr' : 'stdout'
}

/**
 * Keeps the output of a container in memory, as lines with timestamps. The oldest lines are dropped when the size limit
 * is reached. Readers can follow the log from any line. A reader that falls behind continues at the oldest line that
 * still exists.
 */

/** A line of a container's output, with the time when it was written. */
export interface LogLine {
  /** Time of the line in milliseconds since 1970. */
  readonly time: number
  readonly stream: 'stdout' | 'stderr'
  /** Text of the line, without the line break. */
  readonly text: string
}

const defaultMaxBytes = 256 * 1024
/** Memory that a line needs in addition to its text, in bytes. */
const lineOverhead = 64

/** The log of one run of a container, from its start to its end. */
export class ContainerLog {
  readonly #maxBytes: number
  #lines: LogLine[] = []
  /** Number of the oldest stored line, which equals the number of dropped lines. */
  #first = 0
  #bytes = 0
  #isEnded = false
  #waiting: (() => void)[] = []

  constructor(maxBytes: number = defaultMaxBytes) {
    this.#maxBytes = maxBytes
  }

  /** The number of the oldest stored line (`first`), and the number that the next line will have (`end`). */
  get range(): { readonly first: number; readonly end: number } {
    return { first: this.#first, end: this.#first + this.#lines.length }
  }

  /** Whether the container has terminated and therefore produces no more output. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Appends text, split into lines. The final line break is optional. */
  append(time: number, text: string, stream: LogLine['stream'] = 'stdout'): void {
    const body = text.endsWith('\n') ? text.slice(0, -1) : text
    this.appendLines(body.split('\n').map((line) => ({ time, stream, text: line })))
  }

  /** Appends lines. Their times must not decrease. */
  appendLines(lines: readonly LogLine[]): void {
    if (this.#isEnded) return
    for (const line of lines) {
      this.#lines.push(line)
      this.#bytes += Buffer.byteLength(line.text) + lineOverhead
    }
    this.#dropOldest()
    this.#wake()
  }

  /** Marks the container as terminated. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** Returns the line with this number, or undefined if the line was dropped or does not exist yet. */
  line(number: number): LogLine | undefined {
    return this.#lines[number - this.#first]
  }

  /** Resolves when lines with a higher number may exist or the log may have ended. */
  async changed(after: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isEnded || after < this.range.end) return
    await new Promise<void>((resolve) => {
      const settle = () => {
        signal.removeEventListener('abort', settle)
        this.#waiting = this.#waiting.filter((each) => each !== settle)
        resolve()
      }
      signal.addEventListener('abort', settle)
      this.#waiting.push(settle)
    })
  }

  #dropOldest(): void {
    let dropped = 0
    while (this.#bytes > this.#maxBytes && dropped < this.#lines.length - 1)
      this.#bytes -= Buffer.byteLength(this.#lines[dropped++]!.text) + lineOverhead
    if (dropped === 0) return
    this.#lines = this.#lines.slice(dropped)
    this.#first += dropped
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const settle of waiting) settle()
  }
}

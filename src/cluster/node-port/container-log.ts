/**
 * What a container has printed, in memory: whole lines with their times, the oldest dropped once there are more bytes
 * than the limit. Readers follow it from any line onward; one that falls behind the oldest line goes on from there.
 */

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly time: number
  readonly stream: 'stdout' | 'stderr'
  /** Without the line break. */
  readonly text: string
}

const defaultMaxBytes = 256 * 1024
/** What a line takes beside its text. */
const lineOverhead = 64

/** What one instance of a container has printed. */
export class ContainerLog {
  readonly #maxBytes: number
  #lines: LogLine[] = []
  /** The number of the first line that is held: how many have been dropped. */
  #first = 0
  #bytes = 0
  #isEnded = false
  #waiting: (() => void)[] = []

  constructor(maxBytes: number = defaultMaxBytes) {
    this.#maxBytes = maxBytes
  }

  /** The numbers of the first line that is held, and of the next one that will be. */
  get range(): { readonly first: number; readonly end: number } {
    return { first: this.#first, end: this.#first + this.#lines.length }
  }

  /** Whether the container has ended: nothing more will be printed. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Adds a text, line by line; the last line break may be left out. */
  append(time: number, text: string, stream: LogLine['stream'] = 'stdout'): void {
    if (this.#isEnded) return
    const body = text.endsWith('\n') ? text.slice(0, -1) : text
    for (const line of body.split('\n')) {
      this.#lines.push({ time, stream, text: line })
      this.#bytes += Buffer.byteLength(line) + lineOverhead
    }
    this.#dropOldest()
    this.#wake()
  }

  /** The container has ended. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** The line of this number; undefined where it was dropped or is yet to come. */
  line(number: number): LogLine | undefined {
    return this.#lines[number - this.#first]
  }

  /** Resolves when there may be something after this line: more lines, or the end. */
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

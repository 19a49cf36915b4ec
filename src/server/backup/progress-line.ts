/**
 * Shows the progress of long operations on standard error: on a terminal as one line that is updated in place, and
 * otherwise as a new line every few seconds.
 */

/** Writes the results, progress and warnings of a command. */
export interface Terminal {
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
  /** Overwrites the previous progress line, or starts a new line if there is none. */
  readonly show: (line: string, last: boolean) => void
  readonly isInteractive: boolean
}

const pauseMs = { interactive: 200, else: 5_000 }

export class ProgressLine {
  readonly #terminal: Terminal
  readonly #what: string
  #shownAt = performance.now()
  #lastText: string | undefined
  #last: string | undefined

  constructor(terminal: Terminal, what: string) {
    this.#terminal = terminal
    this.#what = what
  }

  show(text: string): void {
    this.#last = text
    const now = performance.now()
    if (now - this.#shownAt < pauseMs[this.#terminal.isInteractive ? 'interactive' : 'else']) return
    this.#shownAt = now
    this.#lastText = text
    this.#terminal.show(`${this.#what}: ${text}`, false)
  }

  /** Ends the progress line. If progress was shown, also shows the final state. */
  end(): void {
    if (this.#lastText !== undefined) this.#terminal.show(`${this.#what}: ${this.#last}`, true)
    this.#lastText = undefined
  }
}

/** Formats a count, such as `1 entry` or `12,345 entries`. */
export function countText(count: number, noun: string): string {
  const many = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : many}`
}

/** Formats a size, such as `512 bytes` or `3.4 MiB`. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`
}

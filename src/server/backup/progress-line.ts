/** How far long work has come, on the standard error: a line that is written over on a terminal, else one a few seconds. */

/** Where a command prints: its results, and what else is to be said meanwhile. */
export interface Terminal {
  readonly print: (line: string) => void
  readonly warn: (line: string) => void
  /** Writes over the last line that it wrote, or else a new one. */
  readonly show: (line: string, last: boolean) => void
  readonly isInteractive: boolean
}

const pauseMs = { interactive: 200, else: 5_000 }

export class ProgressLine {
  readonly #terminal: Terminal
  readonly #what: string
  #shownAt = performance.now()
  #shown: string | undefined
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
    this.#shown = text
    this.#terminal.show(`${this.#what}: ${text}`, false)
  }

  /** Where something was shown, the end is shown too. */
  end(): void {
    if (this.#shown !== undefined) this.#terminal.show(`${this.#what}: ${this.#last}`, true)
    this.#shown = undefined
  }
}

/** `1 entry`, `12,345 entries`. */
export function countText(count: number, noun: string): string {
  const many = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : many}`
}

/** `512 bytes`, `3.4 MiB`. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`
}

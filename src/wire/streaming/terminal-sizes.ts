/** Reads the sizes of the client's terminal, which arrive as a sequence of JSON objects. */
import type { Readable } from 'node:stream'

/** The size of a terminal in characters. */
export interface TerminalSize {
  readonly width: number
  readonly height: number
}

const maxWaitingText = 4096
const maxSide = 0xffff

/** Stores a terminal's latest size and notifies listeners of changes. Invalid sizes are ignored. */
export class TerminalSizes {
  size: TerminalSize | undefined
  #listeners: ((size: TerminalSize) => void)[] = []

  constructor(source: Readable) {
    let waiting = ''
    source.on('data', (chunk: Buffer) => {
      const texts = (waiting + chunk.toString('latin1')).split('}')
      waiting = texts.pop()!.slice(-maxWaitingText)
      for (const text of texts) this.#take(`${text}}`)
    })
  }

  onResize(run: (size: TerminalSize) => void): void {
    this.#listeners.push(run)
  }

  #take(text: string): void {
    const size = readSize(text)
    if (size === undefined) return
    this.size = size
    for (const run of this.#listeners) run(size)
  }
}

function readSize(text: string): TerminalSize | undefined {
  try {
    const { Width: width, Height: height } = JSON.parse(text) as { Width?: unknown; Height?: unknown }
    return isSide(width) && isSide(height) ? { width, height } : undefined
  } catch {
    return undefined
  }
}

function isSide(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxSide
}

/**
 * Writes events to a file or to the standard output, a line each. While a write is under way further lines gather and
 * go together with the next. Where a request waits for its record it waits for room, or, strictly, for its line to be
 * written.
 */
import type { AuditEvent } from './event.ts'
import type { Sink, SinkFaults, Truncation } from './sink.ts'
import { textWithin } from './sink.ts'

/** Where lines go. */
export interface LineOutput {
  /** One call at a time. */
  append(lines: string): Promise<void>
  close(): Promise<void>
}

export interface LogSinkParts {
  readonly output: LineOutput
  readonly truncation: Truncation
  readonly isStrict: boolean
  readonly faults: SinkFaults
}

/** How many characters may wait before requests wait too. */
const maxWaiting = 4 * 1024 * 1024

/** A sink whose requests wait while the log cannot keep up. */
export class LogSink implements Sink {
  readonly #parts: LogSinkParts
  #lines: string[] = []
  #waiting = 0
  #writing: Promise<void> | undefined

  constructor(parts: LogSinkParts) {
    this.#parts = parts
  }

  write(event: AuditEvent): void | Promise<void> {
    const { truncation, isStrict, faults } = this.#parts
    const text = textWithin(truncation, event)
    if (text === undefined) {
      faults.lost(1, new Error('an event is longer than the limit, even without bodies'))
      return
    }
    this.#lines.push(text)
    this.#waiting += text.length
    this.#writing ??= this.#begin()
    if (isStrict && event.stage === 'RequestReceived') return this.#writing
    if (this.#waiting > maxWaiting) return this.#writing.catch(() => {})
  }

  async close(): Promise<void> {
    await this.#writing?.catch(() => {})
    await this.#parts.output.close()
  }

  /** Where nobody waits for the write its failure is counted all the same. */
  #begin(): Promise<void> {
    const writing = this.#drain()
    writing.catch(() => {})
    return writing
  }

  /** Writes until nothing waits; rejects where a write failed. */
  async #drain(): Promise<void> {
    // In a turn of its own, so that what comes in this one goes together.
    await new Promise((resolve) => setImmediate(resolve))
    let failure: { readonly error: unknown } | undefined
    while (this.#lines.length > 0) {
      const lines = this.#lines
      this.#lines = []
      this.#waiting = 0
      try {
        await this.#parts.output.append(`${lines.join('\n')}\n`)
      } catch (error) {
        failure = { error }
        this.#parts.faults.lost(lines.length, error)
      }
    }
    this.#writing = undefined
    if (failure !== undefined && this.#parts.isStrict) throw failure.error
  }
}

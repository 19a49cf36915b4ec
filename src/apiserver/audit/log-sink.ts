/**
 * Writes events to a file or to the standard output, a line each. While a write is under way, and for some milliseconds
 * after it, further events gather and go together with the next: a write costs more than the lines in it. A request waits
 * for room, or, strictly, for the line of its arrival to be written.
 */
import type { AuditEvent } from './event.ts'
import { Lines } from './lines.ts'
import type { Sink, SinkFaults, Truncation } from './sink.ts'
import { maxUnwritten, textWithin } from './sink.ts'

/** Where lines go. */
export interface LineOutput {
  /** One call at a time. */
  append(lines: Buffer): Promise<void>
  close(): Promise<void>
}

export interface LogSinkParts {
  readonly output: LineOutput
  readonly truncation: Truncation
  readonly isStrict: boolean
  readonly faults: SinkFaults
}

/** How many bytes may wait before requests wait too. */
const maxWaiting = 4 * 1024 * 1024

/** How long lines gather after a write before the next one, unless requests wait for their lines. */
const gatherMs = 5

/** More than gathers between two writes, on a busy server too. */
const usualBytes = 1024 * 1024

/** A sink whose requests wait while the log cannot keep up. */
export class LogSink implements Sink {
  readonly #parts: LogSinkParts
  /** Events of the last moment: their texts are written together. */
  readonly #unwritten: AuditEvent[] = []
  #gathered = new Batch()
  /** What was written last, to be used again. */
  #spare = new Batch()
  #writing: Promise<void> | undefined

  constructor(parts: LogSinkParts) {
    this.#parts = parts
  }

  write(event: AuditEvent): void | Promise<void> {
    const batch = this.#gathered
    this.#writing ??= this.#writeAll()
    if (this.#unwritten.push(event) >= maxUnwritten || event.isLong) this.#writeTexts()
    if (this.#parts.isStrict && event.stage === 'RequestReceived') return batch.written
    if (batch.lines.length > maxWaiting) return batch.written.catch(() => {})
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#parts.output.close()
  }

  /** Adds the texts of the events to the lines that are written next. */
  #writeTexts(): void {
    const { truncation, faults } = this.#parts
    for (const event of this.#unwritten) {
      const text = textWithin(truncation, event)
      if (text === undefined) faults.lost(1, new Error('an event is longer than the limit, even without bodies'))
      else this.#gathered.lines.add(text)
    }
    this.#unwritten.length = 0
  }

  /** Writes until nothing waits. */
  async #writeAll(): Promise<void> {
    // In a turn of its own, so that what comes in this one goes together.
    await new Promise((resolve) => setImmediate(resolve))
    for (;;) {
      this.#writeTexts()
      const batch = this.#gathered
      if (batch.lines.count === 0) break
      this.#gathered = this.#spare
      await this.#writeOnce(batch)
      batch.clear()
      this.#spare = batch
      if (!this.#parts.isStrict) await new Promise((resolve) => setTimeout(resolve, gatherMs))
    }
    this.#writing = undefined
  }

  async #writeOnce(batch: Batch): Promise<void> {
    try {
      await this.#parts.output.append(batch.lines.bytes)
      batch.settle()
    } catch (error) {
      this.#parts.faults.lost(batch.lines.count, error)
      batch.settle(error)
    }
  }
}

/** Lines that are written together. */
class Batch {
  readonly lines = new Lines(usualBytes)
  #written: PromiseWithResolvers<void> | undefined

  /** Rejects where they could not be written. Made when somebody first waits for it. */
  get written(): Promise<void> {
    this.#written ??= Promise.withResolvers()
    return this.#written.promise
  }

  settle(error?: unknown): void {
    if (error === undefined) this.#written?.resolve()
    else this.#written?.reject(error)
  }

  /** Begins anew, in the same memory. */
  clear(): void {
    this.lines.clear()
    this.#written = undefined
  }
}

/**
 * Writes audit events to a file or to standard output, one line each. Events that arrive during a write, or within a
 * few milliseconds after it, are written together, because the overhead of a write exceeds the cost of its lines. A
 * request waits if the buffer is full. In strict mode, a request also waits until its RequestReceived event is written.
 */
import type { AuditEvent } from './event.ts'
import { Lines } from './lines.ts'
import type { Sink, SinkFaults, Truncation } from './sink.ts'
import { maxUnwritten, textWithin } from './sink.ts'

/** The destination of a log sink's lines: a file or standard output. */
export interface LineOutput {
  /** Writes lines. Call it again only after the returned promise has settled. */
  append(lines: Buffer): Promise<void>
  close(): Promise<void>
}

export interface LogSinkParts {
  readonly output: LineOutput
  readonly truncation: Truncation
  readonly isStrict: boolean
  readonly faults: SinkFaults
}

/** Number of buffered bytes above which requests must wait. */
const maxWaiting = 4 * 1024 * 1024

/**
 * Delay in milliseconds between two writes, during which lines are collected. The delay is skipped if requests are
 * waiting for their lines to be written.
 */
const gatherMs = 5

/**
 * Initial size of the buffer in bytes. The buffer rarely grows, because even a busy server collects fewer bytes than
 * this between two writes.
 */
const usualBytes = 1024 * 1024

/** A sink that makes requests wait if the log cannot keep up. */
export class LogSink implements Sink {
  readonly #parts: LogSinkParts
  /** Events whose text has not been built yet. The sink builds the texts of many events together. */
  readonly #unwritten: AuditEvent[] = []
  #gathered = new Batch()
  /** The batch whose memory the next batch reuses. */
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

  /** Builds the texts of the collected events and adds them to the current batch. */
  #writeTexts(): void {
    const { truncation, faults } = this.#parts
    for (const event of this.#unwritten) {
      const text = textWithin(truncation, event)
      if (text === undefined) faults.lost(1, new Error('an event exceeds the size limit even without its bodies'))
      else this.#gathered.lines.add(text)
    }
    this.#unwritten.length = 0
  }

  /** Writes batches until the buffer is empty. */
  async #writeAll(): Promise<void> {
    // Wait for the next turn of the event loop, so that all events of this turn are written together.
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

  /**
   * Resolves when the batch has been written, and rejects if the write fails. The promise is created only if a request
   * waits for it.
   */
  get written(): Promise<void> {
    this.#written ??= Promise.withResolvers()
    return this.#written.promise
  }

  settle(error?: unknown): void {
    if (error === undefined) this.#written?.resolve()
    else this.#written?.reject(error)
  }

  /** Removes all lines. The batch keeps its memory. */
  clear(): void {
    this.lines.clear()
    this.#written = undefined
  }
}

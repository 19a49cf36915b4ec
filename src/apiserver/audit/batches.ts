/**
 * Collects audit events and sends them in batches. A batch is sent when it is full or when its oldest event has waited
 * for the maximum delay. The buffer is bounded: events that arrive while it is full are dropped and counted. While one
 * batch is being sent, events are collected for the next batch. A rate limit bounds how often batches are sent.
 */
import { type RateLimit, TokenBucket } from '../../base/limits/token-bucket.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { SinkFaults } from './sink.ts'

/** The limits that determine when a batch is sent: size, delay and rate. */
export interface BatchOptions {
  /** Maximum number of buffered events. */
  readonly buffer: number
  readonly maxSize: number
  readonly maxWaitMs: number
  /** Maximum number of batches per second, and the burst size. If undefined, batches are not rate-limited. */
  readonly rate: RateLimit | undefined
  /** Maximum length of a batch in characters. */
  readonly maxLength: number
}

/** Collects audit events into batches. */
export class Batches {
  readonly #options: BatchOptions
  readonly #send: (events: readonly string[]) => Promise<void>
  readonly #faults: SinkFaults
  readonly #bucket: TokenBucket | undefined
  #waiting: string[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined

  constructor(
    options: BatchOptions,
    { send, faults, clock }: { send: (events: readonly string[]) => Promise<void>; faults: SinkFaults; clock: Clock },
  ) {
    this.#options = options
    this.#send = send
    this.#faults = faults
    if (options.rate !== undefined) this.#bucket = new TokenBucket(options.rate, () => clock.monotonic())
  }

  add(event: string): void {
    if (this.#waiting.length >= this.#options.buffer) {
      this.#faults.lost(1, new Error('the audit event buffer is full'))
      return
    }
    this.#waiting.push(event)
    if (this.#sending !== undefined) return
    if (this.#waiting.length >= this.#options.maxSize) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), this.#options.maxWaitMs).unref()
  }

  /** Sends all buffered events without applying the rate limit. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#sending
    while (this.#waiting.length > 0) await this.#sendOne()
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#drain().finally(() => {
      this.#sending = undefined
      if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#begin(), this.#options.maxWaitMs).unref()
    })
  }

  /** Sends all events that are currently buffered, in as many batches as needed. */
  async #drain(): Promise<void> {
    do {
      const pause = this.#bucket?.reserve() ?? 0
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause).unref())
      await this.#sendOne()
    } while (this.#waiting.length >= this.#options.maxSize)
  }

  async #sendOne(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#countWithin(this.#options.maxLength))
    try {
      await this.#send(batch)
    } catch (error) {
      this.#faults.lost(batch.length, error)
    }
  }

  /** Returns the number of buffered events that fit into one batch. The result is at least one. */
  #countWithin(maxLength: number): number {
    let length = 0
    const most = Math.min(this.#waiting.length, this.#options.maxSize)
    for (let i = 0; i < most; i++) {
      length += this.#waiting[i]!.length
      if (length > maxLength) return Math.max(1, i)
    }
    return most
  }
}

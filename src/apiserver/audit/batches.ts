/**
 * Gathers events and hands them on in batches: when there are enough of them, or the oldest has waited long enough. The
 * buffer is bounded: what comes while it is full is lost, and counted. A batch is on its way while the next gathers; a
 * rate bounds how often one is sent.
 */
import { type RateLimit, TokenBucket } from '../../base/limits/token-bucket.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { SinkFaults } from './sink.ts'

/** How much is gathered, for how long, and how often a batch is sent. */
export interface BatchOptions {
  /** How many events may wait. */
  readonly buffer: number
  readonly maxSize: number
  readonly maxWaitMs: number
  /** Batches per second, and how many may go at once after a pause; undefined: no limit. */
  readonly rate: RateLimit | undefined
  /** The length of a batch in characters at most. */
  readonly maxLength: number
}

/** Gathers events into batches. */
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
      this.#faults.lost(1, new Error('the buffer of audit events is full'))
      return
    }
    this.#waiting.push(event)
    if (this.#sending !== undefined) return
    if (this.#waiting.length >= this.#options.maxSize) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), this.#options.maxWaitMs).unref()
  }

  /** Sends all that waits, without regard to the rate. */
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

  /** All that waited when it began, in as many batches as that takes. */
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

  /** How many of those that wait go into one batch: at least one. */
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

/**
 * A queue of keys to process. A key is queued at most once and is never processed concurrently. If a key is added while
 * it is being processed, it is processed again afterwards. Failed or unfinished work is retried with a growing backoff,
 * which the first success resets. At most `concurrency` keys are active, and an optional `rate` limits how many keys
 * per second are started.
 *
 * The size of the queue is bounded by the number of keys, each of which stands for an object in the store.
 */
import { type Backoff, backoffMs } from '../../base/concurrency/backoff.ts'
import { type RateLimit, TokenBucket } from '../../base/limits/token-bucket.ts'
import { systemClock, type TimerClock } from '../../base/time/clock.ts'

/** The result of processing a key: done, retry with the usual backoff, or retry after a given time. */
export type StepOutcome = 'done' | 'later' | { readonly afterMs: number }

/** The counters and histograms of one work queue. */
export interface QueueSeries {
  readonly adds: { value: number }
  readonly retries: { value: number }
  /** The time that keys waited in the queue, in seconds. */
  readonly waiting: { observe(seconds: number): void }
  /** The time that it took to process each key, in seconds. */
  readonly working: { observe(seconds: number): void }
}

/** The state of a work queue that gauges report. */
export interface QueueState {
  /** Number of waiting keys. */
  readonly depth: number
  /** How long each active key has been processed so far, in seconds. */
  readonly underWaySeconds: readonly number[]
}

/** Options of a work queue. */
export interface WorkQueueOptions {
  /**
   * Processes a key. If the function returns nothing, the key is done. If it throws an error, the key is retried with
   * backoff.
   */
  readonly work: (key: string, signal: AbortSignal) => Promise<StepOutcome> | Promise<void>
  /** Called for every failure. The failed key is retried. */
  readonly onError: (key: string, error: unknown) => void
  /** Registers the queue with the metrics and returns its series. Undefined if the queue has no metrics. */
  readonly meter?: (queue: QueueState) => QueueSeries
  /** Maximum number of active keys. Defaults to 4. */
  readonly concurrency?: number
  /** Backoff between retries. By default, the backoff grows from 50 ms to one minute. */
  readonly backoff?: Backoff
  /** Maximum rate at which the processing of keys starts. Unlimited by default. */
  readonly rate?: RateLimit
  /** Clock for backoff. Defaults to the system clock. */
  readonly clock?: TimerClock
}

const uncounted = () => ({ value: 0, observe: () => {} })
const noMeter = (): QueueSeries => ({
  adds: uncounted(),
  retries: uncounted(),
  waiting: uncounted(),
  working: uncounted(),
})

const usualBackoff: Backoff = { firstMs: 50, longestMs: 60_000 }

/** A queue of keys to process, each at most once at a time. */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #series: QueueSeries
  readonly #bucket: TokenBucket | undefined
  #refill: ReturnType<typeof setTimeout> | undefined
  /** Time at which each waiting key was queued. */
  readonly #ready = new Map<string, number>()
  /** Time at which each active key was started. */
  readonly #active = new Map<string, number>()
  /** For each key that waits for a retry, a function that cancels the wait. */
  readonly #pauses = new Map<string, () => void>()
  /** Number of consecutive retries per key. */
  readonly #failures = new Map<string, number>()
  /** Promises for callers that wait for a key: for its next attempt, or for the attempt that is running now. */
  readonly #awaitingNext = new Map<string, PromiseWithResolvers<void>>()
  readonly #awaitingCurrent = new Map<string, PromiseWithResolvers<void>>()
  #signal: AbortSignal | undefined
  #idle = () => {}

  constructor(options: WorkQueueOptions) {
    this.#options = options
    this.#series = (options.meter ?? noMeter)(this)
    if (options.rate !== undefined) this.#bucket = new TokenBucket(options.rate, () => performance.now())
  }

  get depth(): number {
    return this.#ready.size
  }

  get underWaySeconds(): number[] {
    return [...this.#active.values()].map(secondsSince)
  }

  /** Queues a key and cancels its backoff. */
  add(key: string): void {
    this.#cancelPause(key)
    if (!this.#ready.has(key)) {
      this.#ready.set(key, performance.now())
      this.#series.adds.value++
    }
    this.#next()
  }

  /**
   * Resolves when a waiting or active key has been processed once. Returns undefined if the key is neither waiting nor
   * active.
   */
  settled(key: string): Promise<void> | undefined {
    const awaiting = this.#ready.has(key)
      ? this.#awaitingNext
      : this.#active.has(key)
        ? this.#awaitingCurrent
        : undefined
    if (awaiting === undefined) return undefined
    const settled = awaiting.get(key) ?? Promise.withResolvers<void>()
    awaiting.set(key, settled)
    return settled.promise
  }

  /** Processes keys until the signal aborts and the active keys have ended. Must be called only once. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    this.#next()
    await new Promise<void>((resolve) => {
      this.#idle = () => {
        if (signal.aborted && this.#active.size === 0) resolve()
      }
      signal.addEventListener('abort', this.#idle, { once: true })
      this.#idle()
    })
    for (const cancel of this.#pauses.values()) cancel()
    this.#pauses.clear()
    clearTimeout(this.#refill)
    for (const { resolve } of this.#awaitingNext.values()) resolve()
  }

  #next(): void {
    const { concurrency = 4 } = this.#options
    if (this.#signal === undefined || this.#signal.aborted) return
    for (const key of this.#ready.keys()) {
      if (this.#active.size >= concurrency) return
      if (this.#active.has(key)) continue
      if (!this.#mayBegin()) return
      void this.#work(key, this.#signal)
    }
  }

  /** Whether the rate limit allows the processing of another key to start. If not, schedules another check. */
  #mayBegin(): boolean {
    if (this.#refill !== undefined) return false
    const waitMs = this.#bucket?.take() ?? 0
    if (waitMs === 0) return true
    this.#refill = setTimeout(() => {
      this.#refill = undefined
      this.#next()
    }, waitMs)
    return false
  }

  async #work(key: string, signal: AbortSignal): Promise<void> {
    const began = performance.now()
    this.#series.waiting.observe((began - this.#ready.get(key)!) / 1000)
    this.#ready.delete(key)
    this.#active.set(key, began)
    const completion = this.#awaitingNext.get(key)
    if (completion !== undefined) this.#awaitingCurrent.set(key, completion)
    this.#awaitingNext.delete(key)
    const outcome = await this.#attempt(key, signal)
    this.#active.delete(key)
    this.#awaitingCurrent.get(key)?.resolve()
    this.#awaitingCurrent.delete(key)
    this.#series.working.observe(secondsSince(began))
    if (!signal.aborted) this.#settle(key, outcome)
    this.#next()
    this.#idle()
  }

  async #attempt(key: string, signal: AbortSignal): Promise<StepOutcome> {
    try {
      return (await this.#options.work(key, signal)) ?? 'done'
    } catch (error) {
      if (!signal.aborted) this.#options.onError(key, error)
      return 'later'
    }
  }

  #settle(key: string, outcome: StepOutcome): void {
    if (outcome !== 'later') this.#failures.delete(key)
    if (outcome === 'done' || this.#ready.has(key)) return
    this.#addAfter(key, outcome === 'later' ? this.#growingPause(key) : outcome.afterMs)
  }

  #growingPause(key: string): number {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.#series.retries.value++
    return backoffMs(this.#options.backoff ?? usualBackoff, failures)
  }

  #addAfter(key: string, ms: number): void {
    const { clock = systemClock } = this.#options
    this.#pauses.set(
      key,
      clock.after(ms, () => this.add(key)),
    )
  }

  #cancelPause(key: string): void {
    this.#pauses.get(key)?.()
    this.#pauses.delete(key)
  }
}

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000
}

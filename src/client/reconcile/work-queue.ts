/**
 * Keys to be worked on. A key waits at most once and is never worked on twice at the same time; one that is added while
 * it is worked on comes again afterwards. Work that fails, or is not done yet, comes again after a pause that grows
 * each time and is forgotten with the first success. At most `concurrency` keys are under way, and where there is a
 * `rate` no more begin than it allows.
 *
 * What waits is bounded by the number of keys there are: objects in the store.
 */
import { type Backoff, backoffMs } from '../../base/concurrency/backoff.ts'
import { type RateLimit, TokenBucket } from '../../base/limits/token-bucket.ts'
import { systemClock, type TimerClock } from '../../base/time/clock.ts'

/** Done; or to be looked at again: after the usual growing pause, or after a time. */
export type StepOutcome = 'done' | 'later' | { readonly afterMs: number }

/** What is counted of a queue. */
export interface QueueSeries {
  readonly adds: { value: number }
  readonly retries: { value: number }
  /** How long keys waited, in seconds. */
  readonly waiting: { observe(seconds: number): void }
  /** How long work on a key took, in seconds. */
  readonly working: { observe(seconds: number): void }
}

/** What a queue can be asked at any time. */
export interface QueueState {
  /** How many keys wait. */
  readonly depth: number
  /** For how many seconds each key that is under way has been so. */
  readonly underWaySeconds: readonly number[]
}

/** What a queue does with its keys, and how fast. */
export interface WorkQueueOptions {
  /** Works on a key. What returns nothing is done; what throws comes again after a growing pause. */
  readonly work: (key: string, signal: AbortSignal) => Promise<StepOutcome> | Promise<void>
  /** Called for every failure; the key comes again by itself. */
  readonly onError: (key: string, error: unknown) => void
  /** Where it counts what it does; it is asked for its state at any time. Left out: nothing is counted. */
  readonly meter?: (queue: QueueState) => QueueSeries
  /** How many keys are under way at most; 4 by default. */
  readonly concurrency?: number
  /** The growing pause before a key comes again; from 50 ms to a minute by default. */
  readonly backoff?: Backoff
  /** How fast keys may begin; as fast as there is room by default. */
  readonly rate?: RateLimit
  /** What pauses go by; the machine's clock by default. */
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

/** Keys to be worked on, each once at a time. */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #series: QueueSeries
  readonly #bucket: TokenBucket | undefined
  #refill: ReturnType<typeof setTimeout> | undefined
  /** Since when each key waits. */
  readonly #ready = new Map<string, number>()
  /** Since when each key is under way. */
  readonly #active = new Map<string, number>()
  /** Cancel the pauses of keys that are to come again. */
  readonly #pauses = new Map<string, () => void>()
  /** How often a key has come again in a row. */
  readonly #failures = new Map<string, number>()
  /** Callers that wait until a key has been worked on: those of the next attempt, and of the one under way. */
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

  /** To be worked on as soon as there is room, even if it was to wait. */
  add(key: string): void {
    this.#cancelPause(key)
    if (!this.#ready.has(key)) {
      this.#ready.set(key, performance.now())
      this.#series.adds.value++
    }
    this.#next()
  }

  /** Resolves when a key that waits, or is being worked on, has been worked on once; undefined for any other key. */
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

  /** Works until the signal aborts, and until what is under way then has ended. To be called once. */
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

  /** Whether the rate allows one more; else the queue looks again when it does. */
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
    const awaited = this.#awaitingNext.get(key)
    if (awaited !== undefined) this.#awaitingCurrent.set(key, awaited)
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

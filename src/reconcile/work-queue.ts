/**
 * Keys to be worked on. A key waits at most once and is never worked on twice at the same time; one that is added while
 * it is worked on comes again afterwards. Work that fails, or is not done yet, comes again after a pause that grows
 * each time and is forgotten with the first success. At most `concurrency` keys are under way.
 *
 * What waits is bounded by the number of keys there are: objects in the store.
 */
import { type Backoff, backoffMs } from '../base/backoff.ts'
import type { QueueSeries, QueueState } from './work-queue-metrics.ts'

/** Done; or to be looked at again: after the usual growing pause, or after a time. */
export type StepOutcome = 'done' | 'later' | { readonly afterMs: number }

export interface WorkQueueOptions {
  readonly work: (key: string, signal: AbortSignal) => Promise<StepOutcome>
  /** Called for every failure; the key comes again by itself. */
  readonly onError: (key: string, error: unknown) => void
  /** Where it counts what it does; it is asked for its state at any time. */
  readonly meter: (queue: QueueState) => QueueSeries
  readonly concurrency?: number
  readonly backoff?: Backoff
}

const usualBackoff: Backoff = { firstMs: 50, longestMs: 60_000 }

export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #series: QueueSeries
  /** Since when each key waits. */
  readonly #ready = new Map<string, number>()
  /** Since when each key is under way. */
  readonly #active = new Map<string, number>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** How often a key has come again in a row. */
  readonly #failures = new Map<string, number>()
  /** Callers that wait until a key has been worked on: those of the next attempt, and of the one under way. */
  readonly #awaitingNext = new Map<string, PromiseWithResolvers<void>>()
  readonly #awaitingCurrent = new Map<string, PromiseWithResolvers<void>>()
  #signal: AbortSignal | undefined
  #idle = () => {}

  constructor(options: WorkQueueOptions) {
    this.#options = options
    this.#series = options.meter(this)
  }

  get depth(): number {
    return this.#ready.size
  }

  get underWaySeconds(): number[] {
    return [...this.#active.values()].map(secondsSince)
  }

  /** To be worked on as soon as there is room, even if it was to wait. */
  add(key: string): void {
    this.#cancelTimer(key)
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
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    for (const { resolve } of this.#awaitingNext.values()) resolve()
  }

  #next(): void {
    const { concurrency = 4 } = this.#options
    if (this.#signal === undefined || this.#signal.aborted) return
    for (const key of this.#ready.keys()) {
      if (this.#active.size >= concurrency) return
      if (!this.#active.has(key)) void this.#work(key, this.#signal)
    }
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
      return await this.#options.work(key, signal)
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
    this.#timers.set(
      key,
      setTimeout(() => this.add(key), ms),
    )
  }

  #cancelTimer(key: string): void {
    clearTimeout(this.#timers.get(key))
    this.#timers.delete(key)
  }
}

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000
}

/**
 * A loop has a name, sources of keys, and a step that reconciles one object. All background work on objects is a loop:
 * control loops that use a client, and maintenance by the server itself. All loops have the same metrics, retries,
 * error handling and shutdown.
 *
 * A step receives a key and reads the state itself. A step may therefore run at any time, repeatedly, and after a
 * restart. `startLoops` owns feeds and queues. `stop` waits for all of them.
 */
import { pause } from '../../base/concurrency/abort.ts'
import type { Backoff } from '../../base/concurrency/backoff.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import { systemClock, type TimerClock } from '../../base/time/clock.ts'
import { isMissingRight, type MissingRights } from './missing-rights.ts'
import { isErrorResponse, RefusedSteps } from './refused-steps.ts'
import type { Source } from './sources.ts'
import { type StepOutcome, WorkQueue } from './work-queue.ts'
import type { WorkQueueMetrics } from './work-queue-metrics.ts'

/** Background work on objects: which keys to process, when to process them, and what to do for each key. */
export interface Loop {
  readonly name: string
  readonly sources: readonly Source[]
  /** Maximum number of keys to process concurrently. Defaults to 4. */
  readonly concurrency?: number
  /** Backoff before a failed or unfinished key is retried. */
  readonly backoff?: Backoff
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<StepOutcome>
  /** Cleanup after the last step, limited to two seconds. */
  readonly onStop?: () => Promise<void>
}

/** The log and metrics of loops, and the clock for their delays. */
export interface LoopRecords {
  readonly log: Log
  readonly metrics: WorkQueueMetrics
  readonly missingRights: MissingRights
  readonly clock?: TimerClock
}

/** Controls a loop that has been started. */
export interface RunningLoop {
  /** Adds a key directly, without a source. */
  add(key: string): void
  /**
   * Resolves when a waiting or active key has been reconciled. Returns undefined if the key is neither waiting nor
   * active.
   */
  settled(key: string): Promise<void> | undefined
  /** Resolves when every key that existed at the start has been processed once. Rejects with the first failure. */
  readonly firstPass: Promise<void>
  /** Stops the loop and its feeds. Resolves when all of them have ended. */
  stop(): Promise<void>
}

/** Controls a group of loops that were started together. */
export type RunningLoops = Pick<RunningLoop, 'firstPass' | 'stop'>

/** Maximum duration of a loop's cleanup in milliseconds. */
const stopTimeoutMs = 2_000

/** Starts several loops. A feed that several of them use runs only once. */
export function startLoops(loops: readonly Loop[], records: LoopRecords): RunningLoops {
  const running = loops.map((loop) => new LoopRun(loop, records))
  const stopFeeds = runFeeds(loops)
  const firstPass = Promise.all(running.map((run) => run.firstPass)).then(() => {})
  firstPass.catch(() => {}) // The rejection is ignored, because the error is already logged and not all callers await the promise.
  return {
    firstPass,
    stop: async () => {
      await Promise.all([stopFeeds(), ...running.map((run) => run.stop())])
    },
  }
}

/** Starts a single loop. The caller can add keys to the loop and wait until they have been processed. */
export function startLoop(loop: Loop, records: LoopRecords): RunningLoop {
  const run = new LoopRun(loop, records)
  const stopFeeds = runFeeds([loop])
  return {
    add: (key) => run.add(key),
    settled: (key) => run.settled(key),
    firstPass: run.firstPass,
    stop: async () => {
      await Promise.all([stopFeeds(), run.stop()])
    },
  }
}

/** Runs all feeds of the loops, each only once. Returns a function that stops them. */
function runFeeds(loops: readonly Loop[]): () => Promise<void> {
  const feeds = new Set(loops.flatMap(({ sources }) => sources.flatMap(({ feed }) => feed ?? [])))
  const ended = new AbortController()
  const running = [...feeds].map((feed) => feed.run(ended.signal))
  return async () => {
    ended.abort()
    await Promise.all(running)
  }
}

class LoopRun {
  readonly firstPass: Promise<void>
  readonly #loop: Loop
  readonly #records: LoopRecords
  readonly #clock: TimerClock
  readonly #queue: WorkQueue
  readonly #ended = new AbortController()
  readonly #running: Promise<void>
  readonly #first = new FirstPass()
  readonly #refused: RefusedSteps

  constructor(loop: Loop, records: LoopRecords) {
    this.#loop = loop
    this.#records = records
    const { name, concurrency, backoff } = loop
    this.#clock = records.clock ?? systemClock
    this.#refused = new RefusedSteps(records.log, name)
    this.#queue = new WorkQueue({
      clock: this.#clock,
      meter: (state) => records.metrics.open(name, state),
      work: (key, signal) => this.#step(key, signal),
      onError: (key, error) => this.#failed(key, error),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(backoff === undefined ? {} : { backoff }),
    })
    this.firstPass = this.#first.done
    this.#running = this.#run(this.#ended.signal)
  }

  add(key: string): void {
    this.#first.expect(key)
    this.#queue.add(key)
  }

  settled(key: string): Promise<void> | undefined {
    return this.#queue.settled(key)
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  /**
   * Waits for all feeds to sync, then processes keys. Before then, an object could appear to be missing just because it
   * had not been listed yet.
   */
  async #run(signal: AbortSignal): Promise<void> {
    const disconnect = this.#loop.sources.map(({ connect }) => connect((key) => this.add(key), this.#clock))
    await Promise.all(this.#loop.sources.map(({ feed }) => feed?.synced))
    this.#first.begin()
    await this.#queue.run(signal)
    for (const end of disconnect) end()
    this.#first.end()
    await this.#takeBack()
  }

  async #step(key: string, signal: AbortSignal): Promise<StepOutcome> {
    try {
      const outcome = await this.#loop.reconcile(key, signal)
      this.#records.missingRights.has(this.#loop.name, key)
      this.#first.succeeded(key)
      this.#refused.succeeded(key)
      return outcome
    } catch (error) {
      // If the shutdown has interrupted a step, do not count this step as a failure of the first pass.
      if (signal.aborted) throw error
      this.#first.failed(key, error)
      if (isMissingRight(error)) return this.#records.missingRights.lacks(this.#loop.name, key, error)
      throw error
    }
  }

  #failed(key: string, error: unknown): void {
    const { log } = this.#records
    if (isErrorResponse(error)) this.#refused.failed(key, error)
    else log.error('reconcile failed; will retry', { loop: this.#loop.name, key, ...errorFields(error) })
  }

  async #takeBack(): Promise<void> {
    const over = new AbortController()
    const { name, onStop } = this.#loop
    const failed = (error: unknown) =>
      this.#records.log.warn('control loop cleanup failed during shutdown', { loop: name, ...errorFields(error) })
    await Promise.race([onStop?.().catch(failed), pause(stopTimeoutMs, over.signal)])
    over.abort()
  }
}

/** Tracks whether each key that existed at the start has been processed once. */
class FirstPass {
  readonly #pendingKeys = new Set<string>()
  readonly #outcome = Promise.withResolvers<void>()
  readonly done = this.#outcome.promise
  #state: 'gathering' | 'under way' | 'over' = 'gathering'

  constructor() {
    // Prevents an unhandled rejection. The error has been logged, and not every caller awaits this promise.
    this.done.catch(() => {})
  }

  expect(key: string): void {
    if (this.#state === 'gathering') this.#pendingKeys.add(key)
  }

  begin(): void {
    this.#state = 'under way'
    this.#endIfNoneLeft()
  }

  succeeded(key: string): void {
    if (this.#state === 'over') return
    this.#pendingKeys.delete(key)
    this.#endIfNoneLeft()
  }

  failed(key: string, error: unknown): void {
    if (this.#state !== 'over' && this.#pendingKeys.has(key)) this.#outcome.reject(error)
    this.succeeded(key)
  }

  end(): void {
    this.#state = 'over'
    this.#pendingKeys.clear()
    this.#outcome.resolve()
  }

  #endIfNoneLeft(): void {
    if (this.#pendingKeys.size === 0) this.end()
  }
}

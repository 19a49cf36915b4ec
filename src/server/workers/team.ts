/**
 * The workers of `--workers=auto`: the first worker in the main thread, and a varying number in separate threads.
 * Measures the load of each worker and carries out the decisions of `scaling.ts`.
 */
import { availableParallelism } from 'node:os'
import { clearCounts } from '../../apiserver/transport/connection-counts.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { SharedLimits } from '../threads/worker-context.ts'
import type { MainWorker } from './main-worker.ts'
import { Scaling, type ScalingThresholds } from './scaling.ts'
import type { Slot, WorkerSlot } from './slot.ts'

/** Thresholds for scaling, and the interval between load measurements. */
export interface TeamScaling extends ScalingThresholds {
  readonly tickMs: number
  /** Replaces the measured loads of the workers, for tests. */
  readonly loads?: (workers: number) => readonly number[]
}

/**
 * Returns the default thresholds. An idle worker is retired after three minutes. The number of cores takes a
 * container's CPU quota into account.
 */
export function defaultScaling(): TeamScaling {
  return { maxWorkers: availableParallelism(), tickMs: 1_000, busyTicks: 5, restTicks: 180, moveTicks: 5 }
}

/** Number of ticks to wait before another attempt after a worker failed to start. */
const failureTicks = 60

/** The first worker, and the dependencies for creating more workers. */
export interface TeamParts {
  readonly first: MainWorker
  readonly newSlot: (index: number) => Slot
  readonly scaling: TeamScaling
  readonly limits: SharedLimits
  readonly log: Log
}

export class Team {
  readonly #parts: TeamParts
  readonly #scaling: Scaling
  /** The workers that accept connections, starting with the first worker. */
  readonly #serving: [MainWorker, ...Slot[]]
  /** The worker threads by index, including threads that are starting or retiring. */
  readonly #threads = new Map<number, Slot>()
  #timer: NodeJS.Timeout | undefined
  #isChanging = false
  #isStopped = false
  #pausedTicks = 0

  constructor(parts: TeamParts) {
    this.#parts = parts
    this.#scaling = new Scaling(parts.scaling)
    this.#serving = [parts.first]
  }

  /** All workers, including threads that are starting or retiring. */
  get all(): readonly WorkerSlot[] {
    return [this.#parts.first, ...this.#threads.values()]
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), this.#parts.scaling.tickMs).unref()
  }

  /** Stops adding and retiring workers. */
  stop(): void {
    clearInterval(this.#timer)
    this.#isStopped = true
  }

  #tick(): void {
    const { scaling } = this.#parts
    const loads = this.#serving.map((worker) => worker.load())
    if (this.#isChanging || this.#pausedTicks-- > 0) return
    const action = this.#scaling.decide(scaling.loads?.(loads.length) ?? loads)
    if (action?.type === 'add') void this.#add()
    else if (action?.type === 'retire') void this.#retire()
    else if (action?.type === 'move') this.#serving[action.from]?.moveClients(action.chance)
  }

  async #add(): Promise<void> {
    const { newSlot, log, scaling } = this.#parts
    const index = freeIndex(this.#threads, scaling.maxWorkers)
    // A retiring worker can take a long time to complete its last requests.
    if (index === undefined) return
    const slot = newSlot(index)
    this.#isChanging = true
    this.#threads.set(index, slot)
    this.#shareLimits()
    try {
      await slot.start()
      this.#serving.push(slot)
      log.verbose(1, 'added a worker because of high load', { worker: index, workers: this.#serving.length })
    } catch (error) {
      await slot.terminate()
      this.#forget(index)
      this.#pausedTicks = failureTicks
      if (!this.#isStopped) log.warn('cannot add a worker', { worker: index, error: messageOf(error) })
    } finally {
      this.#isChanging = false
    }
  }

  async #retire(): Promise<void> {
    const { log } = this.#parts
    const [index, slot] = [...this.#threads].find(([, each]) => each === this.#serving.at(-1))!
    this.#serving.pop()
    log.verbose(1, 'retiring a worker because of low load', { worker: index, workers: this.#serving.length })
    await slot.retire()
    this.#forget(index)
    log.verbose(1, 'retired a worker', { worker: index })
  }

  /** Clears the shared counters of a worker, in case its thread ended before clearing them. */
  #forget(index: number): void {
    const { connections, backups } = this.#parts.limits
    this.#threads.delete(index)
    clearCounts(connections, index)
    Atomics.store(backups, index, 0)
    this.#shareLimits()
  }

  /**
   * Updates the number of workers that share limits. Starting and retiring workers also count, because they may serve
   * requests.
   */
  #shareLimits(): void {
    Atomics.store(this.#parts.limits.count, 0, 1 + this.#threads.size)
  }
}

function freeIndex(threads: ReadonlyMap<number, Slot>, maxWorkers: number): number | undefined {
  for (let index = 1; index < maxWorkers; index++) if (!threads.has(index)) return index
  return undefined
}

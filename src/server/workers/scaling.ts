/**
 * Determines when `--workers=auto` adds or retires a worker, and when a busy worker moves clients to other workers. The
 * decisions depend only on the loads of the workers, which are measured at regular intervals (ticks).
 */

/**
 * Thresholds for adding and retiring workers and moving clients. They are measured in ticks instead of time, because
 * the machine may be suspended.
 */
export interface ScalingThresholds {
  readonly maxWorkers: number
  /** Number of consecutive ticks with busy event loops before a worker is added. */
  readonly busyTicks: number
  /** Number of consecutive ticks with low load before a worker is retired. */
  readonly restTicks: number
  /** Minimum number of ticks between two moves of clients. The number doubles after each move without effect. */
  readonly moveTicks: number
}

export type ScalingAction =
  | { readonly type: 'add' }
  | { readonly type: 'retire' }
  /** Each connection of worker `from` ends with this probability, so that its client reconnects to another worker. */
  | { readonly type: 'move'; readonly from: number; readonly chance: number }

/** Average load of the workers above which a worker is added. */
const busyLoad = 0.7
/** Maximum load of the remaining workers if a worker is retired. */
const restLoad = 0.3
/** Difference between two loads above which clients are moved. */
const unevenLoad = 0.3
const maxMoveFactor = 16

export class Scaling {
  readonly #thresholds: ScalingThresholds
  #busyTicks = 0
  #restTicks = 0
  #ticksSinceMove = 0
  #moveFactor = 1

  constructor(thresholds: ScalingThresholds) {
    this.#thresholds = thresholds
  }

  /** Returns the action to take after a tick in which the workers had the given loads, each from 0 to 1. */
  decide(loads: readonly number[]): ScalingAction | undefined {
    const { maxWorkers, busyTicks, restTicks } = this.#thresholds
    const { length: workers } = loads
    const sum = loads.reduce((total, load) => total + load, 0)
    this.#busyTicks = sum / workers > busyLoad ? this.#busyTicks + 1 : 0
    this.#restTicks = workers > 1 && sum / (workers - 1) < restLoad ? this.#restTicks + 1 : 0
    if (this.#busyTicks >= busyTicks && workers < maxWorkers) return this.#change('add')
    if (this.#restTicks >= restTicks) return this.#change('retire')
    return this.#move(loads, sum / workers)
  }

  #change(type: 'add' | 'retire'): ScalingAction {
    this.#busyTicks = 0
    this.#restTicks = 0
    this.#ticksSinceMove = 0
    this.#moveFactor = 1
    return { type }
  }

  /**
   * Returns an action that moves clients if the loads are uneven. Moves have no effect if a single busy connection
   * causes the load, so the intervals between moves grow.
   */
  #move(loads: readonly number[], average: number): ScalingAction | undefined {
    this.#ticksSinceMove++
    const most = Math.max(...loads)
    if (most <= busyLoad || most - Math.min(...loads) <= unevenLoad) {
      this.#moveFactor = 1
      return undefined
    }
    if (this.#ticksSinceMove < this.#thresholds.moveTicks * this.#moveFactor) return undefined
    this.#ticksSinceMove = 0
    this.#moveFactor = Math.min(maxMoveFactor, 2 * this.#moveFactor)
    return { type: 'move', from: loads.indexOf(most), chance: (most - average) / most }
  }
}

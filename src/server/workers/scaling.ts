/**
 * Decides when `--workers=auto` adds or retires a worker, and when a busy worker passes clients to the others. The
 * decisions depend only on the loads of the workers, measured at regular intervals (ticks).
 */

/** The thresholds. Ticks instead of times, because the machine may be suspended. */
export interface ScalingThresholds {
  readonly maxWorkers: number
  /** Number of consecutive ticks with busy event loops after which a worker is added. */
  readonly busyTicks: number
  /** Number of consecutive ticks after which a worker that is not needed is retired. */
  readonly restTicks: number
  /** Minimum number of ticks between two moves of clients. Doubled after each move that did not help. */
  readonly moveTicks: number
}

export type ScalingAction =
  | { readonly type: 'add' }
  | { readonly type: 'retire' }
  /** The worker at this index ends each connection with this probability. */
  | { readonly type: 'move'; readonly from: number; readonly chance: number }

/** Average load of the workers above which another one is added. */
const busyLoad = 0.7
/** A worker is retired if the others could take its work and stay below this load. */
const restLoad = 0.3
/** Difference between two loads from which clients are moved. */
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

  /** Returns what to do after a tick with these loads, each from 0 to 1. */
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

  /** A client that cannot be split, such as one busy connection, makes moving futile. The pauses therefore grow. */
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

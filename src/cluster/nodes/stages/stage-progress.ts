/**
 * Follows one object through its stages: tracks which stage applies, when its delay has passed, and which stages were
 * applied before. A stage from the API is applied to the same object at most once a second.
 */
import { type JsonObject, sameJson } from '../../../api/json/json.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { chooseStage, delayOf, type Stage } from './stage.ts'

/** A stage that was chosen for an object and whose delay is running. */
export interface WaitingStage {
  readonly stage: Stage
  /** The object's resourceVersion when the stage was chosen. */
  readonly version: string
  /** Annotations that simulated failures added to the object when the stage was chosen. */
  readonly failure: { readonly [key: string]: string } | undefined
  /** When to apply the stage, on the monotonic clock. */
  readonly due: number
}

/** A pod or node whose next stage is to be chosen. */
export interface StageSubject {
  /** The pod or node as JSON, with the annotations that simulate failures. */
  readonly object: JsonObject
  readonly version: string
  readonly failure: WaitingStage['failure']
}

/** The stages to choose from, with the clock and the speed for their delays. */
export interface StageChoice {
  readonly stages: readonly Stage[]
  /**
   * Whether to apply each stage at most once per second. This limit prevents Stage objects from triggering each other
   * in a tight loop.
   */
  readonly limitsEach: boolean
  readonly clock: Clock
  /** Speed of the stages, as a multiple of real time. */
  readonly speed: number
}

const repeatMs = 1000

export class StageProgress {
  #waiting: WaitingStage | undefined
  #last: { readonly stage: Stage; readonly at: number } | undefined
  /**
   * By stage name, the time on the monotonic clock when each stage was last applied. Recorded only if each stage may be
   * applied at most once per second.
   */
  #applied: Map<string, number> | undefined

  /** Cancels the stage whose delay is running. */
  reset(): void {
    this.#waiting = undefined
  }

  /**
   * Returns the stage whose delay is running. The stage is kept after a change to the object if it still applies.
   * Otherwise, a new stage is chosen.
   */
  next({ object, version, failure }: StageSubject, { stages, limitsEach, clock, speed }: StageChoice) {
    const waiting = this.#waiting
    if (
      waiting !== undefined &&
      stages.includes(waiting.stage) &&
      sameJson(waiting.failure, failure) &&
      (waiting.version === version || waiting.stage.matches(object))
    ) {
      this.#waiting = { ...waiting, version }
      return this.#waiting
    }
    this.#waiting = undefined
    const stage = chooseStage(stages, object)
    if (stage === undefined) return undefined
    const delay = delayOf(stage.delay, object, clock.now()) / speed
    const lastAt = limitsEach ? this.#applied?.get(stage.name) : this.#last?.stage === stage ? this.#last.at : undefined
    const earliest = lastAt === undefined ? 0 : lastAt + repeatMs
    this.#waiting = { stage, version, failure, due: Math.max(clock.monotonic() + delay, earliest) }
    return this.#waiting
  }

  /** Records that the stage was applied. */
  applied({ stage }: WaitingStage, { limitsEach, clock }: Pick<StageChoice, 'limitsEach' | 'clock'>): void {
    this.#waiting = undefined
    this.#last = { stage, at: clock.monotonic() }
    if (!limitsEach) return
    this.#applied ??= new Map()
    this.#applied.set(stage.name, clock.monotonic())
  }
}

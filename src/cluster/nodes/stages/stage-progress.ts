/**
 * Follows one object through its stages: which stage applies, when its delay has passed, and which stages were applied
 * before. A stage from the API is applied to the same object at most once a second.
 */
import { type JsonObject, sameJson } from '../../../api/json/json.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { chooseStage, delayOf, type Stage } from './stage.ts'

/** A stage whose delay has not passed yet. */
export interface WaitingStage {
  readonly stage: Stage
  /** The resourceVersion for which the stage was chosen. */
  readonly version: string
  /** Additional annotations with which the stage was chosen. */
  readonly failure: { readonly [key: string]: string } | undefined
  /** Monotonic time at which to apply the stage. */
  readonly due: number
}

/** The state of an object for which to find a stage. */
export interface StageSubject {
  /** The object, including the annotations of simulated failures. */
  readonly object: JsonObject
  readonly version: string
  readonly failure: WaitingStage['failure']
}

/** The stages among which to choose. */
export interface StageChoice {
  readonly stages: readonly Stage[]
  /** Whether to limit how often each of several alternating stages is applied. */
  readonly limitsEach: boolean
  readonly clock: Clock
  /** Factor by which delays are shorter than specified. */
  readonly speed: number
}

const repeatMs = 1000

export class StageProgress {
  #waiting: WaitingStage | undefined
  #last: { readonly stage: Stage; readonly at: number } | undefined
  /** Monotonic times of the last applications, by name, of stages whose applications are limited. */
  #applied: Map<string, number> | undefined

  /** Forgets the waiting stage. */
  reset(): void {
    this.#waiting = undefined
  }

  /**
   * Returns the stage to wait for. A waiting stage that still applies after a change keeps waiting. Otherwise a new
   * stage is chosen.
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

  /** Records that the waiting stage was applied. */
  applied({ stage }: WaitingStage, { limitsEach, clock }: Pick<StageChoice, 'limitsEach' | 'clock'>): void {
    this.#waiting = undefined
    this.#last = { stage, at: clock.monotonic() }
    if (!limitsEach) return
    this.#applied ??= new Map()
    this.#applied.set(stage.name, clock.monotonic())
  }
}

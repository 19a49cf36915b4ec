/** Follows objects of a kind through their stages. */
import { asJson, type ObjectBase } from '../../../api/model/object.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import type { Stage } from './stage.ts'
import { isStageFault } from './stage-error.ts'
import { StageProgress } from './stage-progress.ts'

export interface StagedObjectsParts<T> {
  readonly clock: Clock
  /** Speed of the stages, as a multiple of real time. */
  readonly speed: number
  /**
   * Returns the milliseconds until another stage may be applied, or 0 if it may be applied now. If undefined, the total
   * rate of changes is not limited.
   */
  readonly untilTurn?: () => number
  readonly apply: (stage: Stage, object: T, signal: AbortSignal) => Promise<void>
  /** Called if a stage is invalid for an object. */
  readonly onFault: (stage: Stage, object: T, error: unknown) => void
}

/** An object, and the stages of its kind. The stages must be the same array until one of them changes. */
export interface Staged<T> {
  readonly object: T
  readonly stages: readonly Stage[]
}

/** Delay in milliseconds before a failed stage is retried. */
const retryMs = 10_000

interface Progress {
  readonly stages: StageProgress
  /** The object's UID and resourceVersion when a stage was last applied to it, and the stages at that time. */
  actedOn: string
  actedWith: readonly Stage[] | undefined
}

export class StagedObjects<T extends ObjectBase> {
  readonly #parts: StagedObjectsParts<T>
  readonly #progress = new Map<string, Progress>()

  constructor(parts: StagedObjectsParts<T>) {
    this.#parts = parts
  }

  /** Drops the progress of an object that no longer exists. */
  forget(key: string): void {
    this.#progress.delete(key)
  }

  /**
   * Applies the stage that selects the object, once the delay of the stage has passed. Returns the milliseconds until
   * the next attempt, or Infinity if only a change can lead to another stage. Returns undefined if no stage selects the
   * object.
   */
  async step(key: string, { object: target, stages }: Staged<T>, signal: AbortSignal): Promise<number | undefined> {
    const { clock, speed } = this.#parts
    const object = asJson(target)
    if (!stages.some(({ matches }) => matches(object))) return undefined
    const progress = this.#progressOf(key)
    const { uid = '', resourceVersion: version = '' } = target.metadata
    const state = `${uid}/${version}`
    if (progress.actedOn === state && progress.actedWith === stages) return Number.POSITIVE_INFINITY
    const choice = { stages, limitsEach: true, clock, speed }
    const waiting = progress.stages.next({ object, version: state, failure: undefined }, choice)!
    const remainingMs = waiting.due - clock.monotonic()
    if (remainingMs > 0) return remainingMs
    const waitMs = this.#parts.untilTurn?.() ?? 0
    if (waitMs > 0) return waitMs
    if (!(await this.#apply(waiting.stage, target, signal))) return retryMs
    progress.actedOn = state
    progress.actedWith = stages
    progress.stages.applied(waiting, choice)
    return Number.POSITIVE_INFINITY
  }

  #progressOf(key: string): Progress {
    const progress = this.#progress.get(key) ?? { stages: new StageProgress(), actedOn: '', actedWith: undefined }
    this.#progress.set(key, progress)
    return progress
  }

  /** Applies a stage. Returns false if the stage itself is invalid. */
  async #apply(stage: Stage, object: T, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#parts.apply(stage, object, signal)
    } catch (error) {
      if (isStageFault(error, stage)) {
        this.#parts.onFault(stage, object, error)
        return false
      }
      // Ignore a conflict or a 404: the change to the object triggers another reconcile.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
    return true
  }
}

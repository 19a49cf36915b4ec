/**
 * Stages describe the next change to an object as data. A stage has a selector, a delay, and an effect: patches, an
 * event, a change to the finalizers, or a deletion. Stages have the format of KWOK's Stage objects
 * (`kwok.x-k8s.io/v1alpha1`). Unsupported fields cause a StageError rather than being ignored.
 *
 * There are two extensions: `next.step` names a built-in step (`pods/pod-transitions.ts`) instead of a template, and
 * `delay.backoffFrom` doubles the delay with each counted failure.
 */

import type { Json, JsonObject } from '../../../api/json/json.ts'
import { parseDuration } from '../../../base/time/duration.ts'
import type { Query } from './query.ts'
import type { PlaceFunctions } from './template.ts'

/** A Stage object after validation and compilation. */
export interface Stage {
  readonly name: string
  readonly resource: StageResource
  /**
   * Names the user on whose behalf the stage acts, for `clientOf`. Undefined for a stage from a file, which acts as the
   * agent of the node.
   */
  readonly actor?: string
  readonly matches: (object: JsonObject) => boolean
  readonly weight: number
  /** Query for a number in the object. The number overrides `weight`. */
  readonly weightFrom?: Query
  readonly delay: Delay
  readonly next: Next
}

/** The kind of the objects to which a stage applies. */
export interface StageResource {
  readonly apiVersion: string
  readonly kind: string
}

/** Whether a stage applies to objects of the given kind. */
export function isStageOf({ resource }: Stage, kind: 'Pod' | 'Node'): boolean {
  return resource.apiVersion === 'v1' && resource.kind === kind
}

/** The delay of a stage, which starts when the stage first applies to the object. */
export interface Delay {
  readonly durationMs: number
  /** Query for a duration or a point in time in the object. The result overrides `durationMs`. */
  readonly durationFrom?: Query
  /**
   * Upper bound of the delay in milliseconds. The delay is a random value between the duration and this bound. If the
   * bound is less than the duration, the delay equals the bound.
   */
  readonly jitterMs?: number
  readonly jitterFrom?: Query
  /**
   * Query for the number of failures. With zero failures, there is no delay. Each failure after the first doubles the
   * duration, up to five minutes.
   */
  readonly backoffFrom?: Query
}

/** The changes that a stage makes. */
export interface Next {
  readonly step?: StepName
  /** Query for the exit code of the containers. Used by the step End. */
  readonly exitCodeFrom?: Query
  /** Reason to report in the status of waiting or ended containers. Used by the steps Wait and End. */
  readonly reason?: string
  readonly message?: string
  /** Patches in the order in which they are applied. */
  readonly patches: readonly StagePatch[]
  readonly event?: StageEvent
  readonly finalizers?: FinalizerChange
  readonly delete: boolean
}

/** A patch of an object or of one of its subresources. */
export interface StagePatch {
  /** Name of the subresource, or '' for the object itself. */
  readonly subresource: string
  /** Name of the user to impersonate. Undefined if the patch is written as the stage's own user. */
  readonly impersonates: string | undefined
  readonly type: 'json' | 'merge' | 'strategic'
  /** Name of the field to which the output applies, or '' if the output is the complete patch. */
  readonly root: string
  readonly template: PatchTemplate
}

/** Executes a template with an object as its input, and parses the output. Throws StageError. */
export type PatchTemplate = (object: Json, functions: PlaceFunctions) => Json

/** Names of the built-in steps (see `pods/pod-transitions.ts`). */
export const stepNames = [
  'Start',
  'StartUnready',
  'BecomeReady',
  'BecomeUnready',
  'End',
  'Restart',
  'Wait',
  'Terminate',
] as const

export type StepName = (typeof stepNames)[number]

export interface StageEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

export interface FinalizerChange {
  readonly add: readonly string[]
  readonly remove: readonly string[]
  readonly empty: boolean
}

const maxBackoffMs = 300_000
/** Maximum delay in milliseconds, because Node.js fires timers longer than 24 days immediately. */
const maxDelayMs = 24 * 86_400_000

/** Returns the delay of a stage for this object, in milliseconds. */
export function delayOf(
  { durationMs, durationFrom, jitterMs, jitterFrom, backoffFrom }: Delay,
  object: Json,
  now: number,
): number {
  const own = first(durationFrom, object, now)
  const base = own ?? backedOff(durationMs, backoffFrom, object)
  const jitter = first(jitterFrom, object, now) ?? jitterMs
  const delay = jitter === undefined ? base : jitter < base ? jitter : base + Math.random() * (jitter - base)
  return Math.min(Math.max(0, delay), maxDelayMs)
}

function backedOff(durationMs: number, backoffFrom: Query | undefined, object: Json): number {
  if (backoffFrom === undefined) return durationMs
  const failures = Math.max(0, ...backoffFrom(object).map(Number).filter(Number.isFinite))
  return failures === 0 ? 0 : Math.min(durationMs * 2 ** Math.min(failures - 1, 30), maxBackoffMs)
}

/** Returns the first valid delay that a query finds: a duration (`10s`), a number of seconds, or a point in time. */
function first(query: Query | undefined, object: Json, now: number): number | undefined {
  for (const value of query?.(object) ?? []) {
    const ms = typeof value === 'number' ? value * 1000 : waitingTime(String(value), now)
    if (ms !== undefined) return ms
  }
  return undefined
}

function waitingTime(text: string, now: number): number | undefined {
  const duration = parseDuration(text)
  if (duration !== undefined) return duration
  const moment = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(moment) ? undefined : moment - now
}

/**
 * Returns the stage that applies to the object, or undefined if no stage applies. If several stages apply, chooses one
 * of them at random by weight.
 */
export function chooseStage(stages: readonly Stage[], object: JsonObject): Stage | undefined {
  const fitting = stages.filter(({ matches }) => matches(object))
  if (fitting.length <= 1) return fitting[0]
  const weights = fitting.map((stage) => weightOf(stage, object))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return fitting[Math.floor(Math.random() * fitting.length)]
  let remainingWeight = Math.random() * total
  for (const [i, stage] of fitting.entries()) {
    remainingWeight -= weights[i]!
    if (remainingWeight < 0) return stage
  }
  return fitting.at(-1)
}

function weightOf({ weight, weightFrom }: Stage, object: JsonObject): number {
  const own = Number(weightFrom?.(object)[0] ?? weight)
  return Number.isFinite(own) && own >= 0 ? own : weight
}

/**
 * Stages: what happens to a pod next, as data. A stage says which pods it is for (a selector), after which delay, and
 * what comes next: a status, an event, finalizers, the end. They have the shape of KWOK's Stage objects
 * (`kwok.x-k8s.io/v1alpha1`), which are read as they are. What such an object says and this program does not do is
 * named in a StageError, never ignored.
 *
 * Two additions: `next.step` names a built-in step (`pods/steps.ts`) in place of a template, and `delay.backoffFrom`
 * doubles a delay with the number that it finds.
 */

import type { Json, JsonObject } from '../../../api/json/json.ts'
import { parseDuration } from '../../../base/time/duration.ts'
import type { Query } from './query.ts'
import type { Template } from './template.ts'

/** A stage, ready to be used. */
export interface Stage {
  readonly name: string
  readonly matches: (object: JsonObject) => boolean
  readonly weight: number
  readonly delay: Delay
  readonly next: Next
}

/** When a stage takes effect, counted from the moment at which it first applied to the object. */
export interface Delay {
  readonly durationMs: number
  /** A duration or a point in time in the object, which counts in place of `durationMs`. */
  readonly durationFrom?: Query
  /** A random part of the time between the duration and this is added; where it is shorter, it counts instead. */
  readonly jitterMs?: number
  readonly jitterFrom?: Query
  /** A count of failures: none means no delay, each further one doubles the duration, up to five minutes. */
  readonly backoffFrom?: Query
}

/** What a stage does. */
export interface Next {
  readonly step?: StepName
  /** The code with which the containers end, for the step End. */
  readonly exitCodeFrom?: Query
  /** Why the containers wait, for the step Wait. */
  readonly reason?: string
  readonly message?: string
  readonly statusTemplate?: Template
  readonly event?: StageEvent
  readonly finalizers?: FinalizerChange
  readonly delete: boolean
}

/** The built-in steps: see `pods/steps.ts`. */
export const stepNames = ['Start', 'StartUnready', 'BecomeReady', 'End', 'Restart', 'Wait', 'Terminate'] as const

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
/** Longer delays are cut to this: timers end early beyond 24 days. */
const maxDelayMs = 24 * 86_400_000

/** How long to wait before a stage takes effect on this object. */
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

/** What a query finds as a time to wait: a duration (`10s`), seconds, or a point in time. */
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

/** The stage that applies to the object; of several one is drawn by their weights. Undefined: it stays as it is. */
export function chooseStage(stages: readonly Stage[], object: JsonObject): Stage | undefined {
  const fitting = stages.filter(({ matches }) => matches(object))
  if (fitting.length <= 1) return fitting[0]
  const total = fitting.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0) return fitting[Math.floor(Math.random() * fitting.length)]
  let left = Math.random() * total
  for (const stage of fitting) {
    left -= stage.weight
    if (left < 0) return stage
  }
  return fitting.at(-1)
}

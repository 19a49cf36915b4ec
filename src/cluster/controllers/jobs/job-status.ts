/** Computes the status of a Job after a step, and the Events to record. */

import { defined, sameJson } from '../../../api/json/json.ts'
import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Happening } from '../../../client/informers/event-recorder.ts'
import { isSuspended, type JobState } from './job-state.ts'
import type { Counters } from './tracking.ts'
import { announcements, type Reason, type Verdict } from './verdict.ts'

type Status = NonNullable<Job['status']>
type Condition = NonNullable<Status['conditions']>[number]

/** The results of one reconcile of a Job, from which the new status is computed. */
export interface JobStep {
  readonly state: JobState
  /** Pod counts after the step: active, ready and terminating. */
  readonly active: number
  readonly ready: number
  readonly terminating: number
  readonly verdict?: Verdict | undefined
  /**
   * Whether all desired creations and deletions of pods succeeded. If false, the status does not report a suspension
   * yet.
   */
  readonly isManaged?: boolean
  /** Milliseconds until a failed index may be retried. */
  readonly retryMs?: number | undefined
  readonly error?: unknown
}

export interface ChangedStatus {
  readonly status: Status
  readonly events: readonly Happening[]
}

export interface StatusOptions {
  /** The Job to update, as last read from or written to the server. */
  readonly job: Job
  readonly counters: Counters
  /** Whether the Job may end now. True if no pods remain to be deleted or counted. */
  readonly mayEnd: boolean
  readonly now: string
}

/** Returns the new status, or undefined if the status is up to date. */
export function changedStatus(step: JobStep, { job, counters, mayEnd, now }: StatusOptions): ChangedStatus | undefined {
  const { features, doneIndexes, failedIndexes } = step.state
  const { status: before = {} } = job
  const ending = step.verdict === undefined ? [] : endOf(step, step.verdict, { mayEnd, now })
  const suspension = step.isManaged && step.verdict === undefined ? suspensionOf(job, now) : undefined
  const changes = [...ending, ...(suspension === undefined ? [] : [suspension])].filter(({ condition }) =>
    isNew(condition, before.conditions),
  )
  const conditions = changes.reduce((all, { condition }) => withCondition(all, condition), before.conditions)
  const { active, ready, terminating } = step
  const status: Status = defined({
    ...before,
    conditions,
    active: active || undefined,
    succeeded: (doneIndexes?.size ?? counters.succeeded) || undefined,
    failed: counters.failed || undefined,
    ready: features.reportsReady ? ready : undefined,
    terminating: features.reportsTerminating ? terminating : undefined,
    uncountedTerminatedPods: uncountedStatus(counters, step.state),
    startTime: startOf(job, { now, suspension: suspension?.condition, isStrict: features.hasStrictStatus }),
    completedIndexes: doneIndexes?.toString() || undefined,
    failedIndexes: failedIndexes?.toString(),
    completionTime: ending.some(({ condition: { type } }) => type === 'Complete') ? now : before.completionTime,
  })
  if (sameJson(before, status)) return undefined
  return { status, events: changes.flatMap(({ event }) => event ?? []) }
}

/**
 * Returns the uncounted pods for the status. Like Kubernetes, returns an object even if there are no uncounted pods.
 */
function uncountedStatus({ uncounted }: Counters, { features }: JobState): Status['uncountedTerminatedPods'] {
  if (!features.tracksPods) return undefined
  const { succeeded, failed } = uncounted
  return {
    ...(succeeded.length === 0 ? {} : { succeeded: [...succeeded] }),
    ...(failed.length === 0 ? {} : { failed: [...failed] }),
  }
}

interface Change {
  readonly condition: Condition
  readonly event?: Happening
}

/** Returns the condition that announces the end of a Job. If the Job may end now, also returns the final condition. */
function endOf(
  { state: { features }, terminating }: JobStep,
  { type, byPolicy, ...verdict }: Verdict,
  { mayEnd, now }: Pick<StatusOptions, 'mayEnd' | 'now'>,
): Change[] {
  const { announcesEnd } = features
  const cause = announcesEnd || type === 'Failed' || byPolicy ? verdict : {}
  const { reason = type, message = '' } = verdict
  const event: Happening =
    type === 'Failed'
      ? { type: 'Warning', reason, message }
      : { type: 'Normal', reason: 'Completed', message: 'Job completed' }
  return [
    ...(announcesEnd || byPolicy ? [{ condition: conditionOf(announcements[type], now, cause) }] : []),
    ...(mayEnd && (!announcesEnd || terminating === 0) ? [{ condition: conditionOf(type, now, cause), event }] : []),
  ]
}

function isNew({ type, status }: Condition, conditions: Condition[] = []): boolean {
  return !conditions.some((each) => each.type === type && each.status === status)
}

/** Returns the change to the Suspended condition, or undefined if the condition does not change. */
function suspensionOf(job: Job, now: string): Change | undefined {
  const suspendedCondition = job.status?.conditions?.find(({ type }) => type === 'Suspended')
  const suspended = isSuspended(job)
  if (suspended === (suspendedCondition?.status === 'True')) return undefined
  const [reason, message] = suspended ? ['Suspended', 'Job suspended'] : ['Resumed', 'Job resumed']
  const condition = conditionOf('Suspended', now, { reason: `Job${reason}`, message })
  return {
    condition: { ...condition, status: suspended ? 'True' : 'False' },
    event: { type: 'Normal', reason, message },
  }
}

interface StartOptions {
  readonly now: string
  /** The new Suspended condition. Undefined if the condition does not change. */
  readonly suspension: Condition | undefined
  readonly isStrict: boolean
}

/**
 * Returns the start time of the Job. Resuming a suspended Job resets the start time. If the API server validates
 * statuses strictly, only a suspension can remove the start time.
 */
function startOf(job: Job, { now, suspension, isStrict }: StartOptions): string | undefined {
  if (suspension?.status === 'False' && !isStrict) return now
  if (suspension?.status === 'True' && isStrict) return undefined
  const { startTime } = job.status ?? {}
  return startTime !== undefined || isSuspended(job) ? startTime : now
}

function conditionOf(type: string, now: string, more: Partial<Reason> = {}): Condition {
  return { type, status: 'True', lastProbeTime: now, lastTransitionTime: now, ...more }
}

function withCondition(conditions: Condition[] | undefined = [], next: Condition): Condition[] {
  const place = conditions.findIndex(({ type }) => type === next.type)
  return place < 0 ? [...conditions, next] : conditions.with(place, next)
}

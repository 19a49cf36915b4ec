/** Computes the status of a Job after a step, and the Events to record. */

import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Happening } from '../../../client/informers/event-recorder.ts'
import { formatIndexes } from './completion-indexes.ts'
import { type Failure, isSuspended, type JobState } from './job-state.ts'

type Status = NonNullable<Job['status']>
type Condition = NonNullable<Status['conditions']>[number]

/** Result of a step. */
export interface JobStep {
  readonly state: JobState
  /** Number of active pods after the step. */
  readonly active: number
  readonly failed: number
  readonly failure?: Failure
  readonly isDone?: boolean
  /** Whether pods were created and deleted as desired. If not, the suspension is not reported yet. */
  readonly isManaged?: boolean
  readonly error?: unknown
}

export interface ChangedStatus {
  readonly status: Status
  readonly events: readonly Happening[]
}

/** Returns undefined if the status is up to date. */
export function changedStatus(step: JobStep, now: string): ChangedStatus | undefined {
  const { state, active, failed } = step
  const { status: before = {} } = state.job
  const { succeeded } = state
  const ended = endOf(step, now)
  const suspension = step.isManaged && ended === undefined ? suspensionOf(state.job, now) : undefined
  const startTime = startOf(state.job, now, suspension?.condition)
  const isSame =
    (before.active ?? 0) === active &&
    (before.succeeded ?? 0) === succeeded &&
    (before.failed ?? 0) === failed &&
    before.startTime === startTime &&
    (ended ?? suspension) === undefined
  if (isSame) return undefined
  const { condition, event } = ended ?? suspension ?? {}
  const conditions = condition === undefined ? before.conditions : withCondition(before.conditions, condition)
  return {
    status: {
      ...before,
      active,
      succeeded,
      failed,
      ...(startTime === undefined ? {} : { startTime }),
      ...(conditions === undefined ? {} : { conditions }),
      ...(state.doneIndexes === undefined ? {} : { completedIndexes: formatIndexes(state.doneIndexes) }),
      ...(step.isDone ? { completionTime: now } : {}),
    },
    events: event === undefined ? [] : [event],
  }
}

interface Change {
  readonly condition: Condition
  readonly event: Happening
}

function endOf({ failure, isDone }: JobStep, now: string): Change | undefined {
  if (failure !== undefined)
    return { condition: conditionOf('Failed', now, failure), event: { type: 'Warning', ...failure } }
  if (!isDone) return undefined
  return {
    condition: conditionOf('Complete', now),
    event: { type: 'Normal', reason: 'Completed', message: 'Job completed' },
  }
}

/** Returns the change of the Suspended condition, or undefined if it is unchanged. */
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

/** Resuming a suspended Job resets its start time. */
function startOf(job: Job, now: string, suspension: Condition | undefined): string | undefined {
  if (suspension?.status === 'False') return now
  const { startTime } = job.status ?? {}
  return startTime !== undefined || isSuspended(job) ? startTime : now
}

function conditionOf(type: string, now: string, more: Partial<Failure> = {}): Condition {
  return { type, status: 'True', lastProbeTime: now, lastTransitionTime: now, ...more }
}

function withCondition(conditions: readonly Condition[] = [], next: Condition): Condition[] {
  const place = conditions.findIndex(({ type }) => type === next.type)
  return place < 0 ? [...conditions, next] : conditions.with(place, next)
}

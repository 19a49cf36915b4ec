/** Computes the status of a Job after a step, and the Events to record. */

import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
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
export function changedStatus(step: JobStep, now: string, emulation: Emulation): ChangedStatus | undefined {
  const { state, active } = step
  const { status: before = {} } = state.job
  const { succeeded, failed } = reportedCounts(step, emulation)
  const ended = endOf(step, now)
  const suspension = step.isManaged && ended === undefined ? suspensionOf(state.job, now) : undefined
  const startTime = startOf(state.job, { now, suspension: suspension?.condition, emulation })
  const isSame =
    (before.active ?? 0) === active &&
    (before.succeeded ?? 0) === succeeded &&
    (before.failed ?? 0) === failed &&
    before.startTime === startTime &&
    (ended ?? suspension) === undefined
  if (isSame) return undefined
  const { condition, event } = ended ?? suspension ?? {}
  const changes = condition === undefined ? [] : [...criterionOf(condition, emulation), condition]
  const conditions = changes.reduce(withCondition, before.conditions)
  const { startTime: _, ...others } = before
  return {
    status: {
      ...others,
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

/** With strict statuses, the counts must not decrease, even if finished pods are deleted. */
function reportedCounts({ state, failed }: JobStep, { gates }: Emulation): { succeeded: number; failed: number } {
  const { succeeded, job } = state
  if (!gates.has('JobManagedBy')) return { succeeded, failed }
  const { completionMode, completions, parallelism } = job.spec ?? {}
  const isElastic = completionMode === 'Indexed' && completions === parallelism
  const { succeeded: succeededBefore = 0, failed: failedBefore = 0 } = job.status ?? {}
  return {
    succeeded: isElastic ? succeeded : Math.max(succeeded, succeededBefore),
    failed: Math.max(failed, failedBefore),
  }
}

const criteria: { readonly [final: string]: string } = { Complete: 'SuccessCriteriaMet', Failed: 'FailureTarget' }

/** Since 1.31, a final condition requires the condition that says why the Job will finish. */
function criterionOf(condition: Condition, { version }: Emulation): Condition[] {
  const type = criteria[condition.type ?? '']
  return type === undefined || !isAtLeast(version, '1.31') ? [] : [{ ...condition, type }]
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

interface StartOptions {
  readonly now: string
  /** The new Suspended condition, if it changes. */
  readonly suspension: Condition | undefined
  readonly emulation: Emulation
}

/** Resuming a suspended Job resets its start time. With strict statuses, only a suspension can remove the time. */
function startOf(job: Job, { now, suspension, emulation }: StartOptions): string | undefined {
  const isStrict = emulation.gates.has('JobManagedBy')
  if (suspension?.status === 'False' && !isStrict) return now
  if (suspension?.status === 'True' && isStrict) return undefined
  const { startTime } = job.status ?? {}
  return startTime !== undefined || isSuspended(job) ? startTime : now
}

function conditionOf(type: string, now: string, more: Partial<Failure> = {}): Condition {
  return { type, status: 'True', lastProbeTime: now, lastTransitionTime: now, ...more }
}

function withCondition(conditions: Condition[] | undefined = [], next: Condition): Condition[] {
  const place = conditions.findIndex(({ type }) => type === next.type)
  return place < 0 ? [...conditions, next] : conditions.with(place, next)
}

/** Derives the progress and failure of a Job from its pods, without writing anything. */
import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { isActive } from '../workloads/pod-state.ts'
import { indexOf } from './completion-indexes.ts'

/** A Job with its pods counted. */
export interface JobState {
  readonly job: Job
  readonly active: readonly Pod[]
  readonly succeeded: number
  readonly failed: number
  /** Completed indexes. Undefined if the Job is not Indexed. */
  readonly doneIndexes: ReadonlySet<number> | undefined
  readonly restarts: number
}

export function isFinished({ status }: Job): boolean {
  return (
    status?.conditions?.some(({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True') ??
    false
  )
}

export function isSuspended({ spec }: Job): boolean {
  return spec?.suspend === true
}

export function countPods(job: Job, pods: readonly Pod[], vendor: Vendor): JobState {
  const isIndexed = job.spec?.completionMode === 'Indexed'
  const context = { vendor, completions: job.spec?.completions ?? 0 }
  const inPhase = (phase: string) => pods.filter(({ status }) => status?.phase === phase)
  const succeeded = inPhase('Succeeded')
  const doneIndexes = new Set(succeeded.flatMap((pod) => indexOf(pod, context) ?? []))
  return {
    job,
    active: pods.filter(isActive),
    succeeded: isIndexed ? doneIndexes.size : succeeded.length,
    failed: inPhase('Failed').length,
    doneIndexes: isIndexed ? doneIndexes : undefined,
    restarts: [...inPhase('Running'), ...inPhase('Pending')].reduce((sum, pod) => sum + restartsOf(pod), 0),
  }
}

function restartsOf({ status = {} }: Pod): number {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return all.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)
}

export interface Failure {
  readonly reason: string
  readonly message: string
}

/** Returns the reason why a Job has failed, or undefined if it has not. */
export function failureOf(state: JobState, now: number): Failure | undefined {
  if (exceedsBackoffLimit(state))
    return { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  const remainingMs = deadlineInMs(state.job, now)
  if (remainingMs !== undefined && remainingMs <= 0)
    return { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }
  return undefined
}

/**
 * Counts failed pods only if a failure is new. If the desired number of pods is already active, the failed pod was
 * replaced and only the status was not written. With restartPolicy OnFailure, container restarts count instead.
 */
function exceedsBackoffLimit({ job: { spec = {}, status = {} }, active, failed, restarts }: JobState): boolean {
  const { backoffLimit = 6, parallelism = 1 } = spec
  const isNew = failed > (status.failed ?? 0)
  if (isNew && active.length !== parallelism && failed > backoffLimit) return true
  if (spec.template?.spec?.restartPolicy !== 'OnFailure') return false
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit
}

/**
 * Returns the milliseconds until the active deadline, or undefined if the Job has no deadline or the deadline is not
 * running.
 */
export function deadlineInMs(job: Job, now: number): number | undefined {
  const { spec = {}, status = {} } = job
  const started = Date.parse(status.startTime ?? '')
  if (spec.activeDeadlineSeconds === undefined || Number.isNaN(started) || isSuspended(job)) return undefined
  return started + spec.activeDeadlineSeconds * 1000 - now
}

/** Returns the desired number of active pods. */
export function wantedActive({ job: { spec = {} }, active, succeeded }: JobState): number {
  const { parallelism = 1, completions } = spec
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism
  return Math.max(0, Math.min(completions - succeeded, parallelism))
}

/** Whether enough pods have succeeded and no pod is active. */
export function isComplete({ job: { spec = {} }, succeeded }: JobState, active: number): boolean {
  return active === 0 && (spec.completions === undefined ? succeeded > 0 : succeeded >= spec.completions)
}

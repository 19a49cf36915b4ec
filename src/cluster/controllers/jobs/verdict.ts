/** Decides whether and why a Job has failed or succeeded. */
import type { Job } from '../../../api/kinds/batch/job.ts'
import { matchFailurePolicy } from './failure-policy.ts'
import { hasFailed, isSuspended, type JobState } from './job-state.ts'
import { metSuccessRule } from './success-policy.ts'

export interface Reason {
  readonly reason: string
  readonly message: string
}

/** How a Job ended. The remaining pods of such a Job are deleted. */
export interface Verdict extends Partial<Reason> {
  readonly type: 'Complete' | 'Failed'
  /**
   * Whether a policy of the Job decided the outcome. Such an outcome is announced by a condition in every Kubernetes
   * version.
   */
  readonly byPolicy?: boolean
}

/** Condition types that announce the end of a Job before the Job ends, by the type of the final condition. */
export const announcements = { Complete: 'SuccessCriteriaMet', Failed: 'FailureTarget' } as const

/** Returns the outcome of a Job, or undefined while it is running. An outcome that has been announced is final. */
export function verdictOf(state: JobState, now: number): Verdict | undefined {
  const announced = announcedVerdict(state.job)
  if (announced !== undefined) return announced
  const failure = failureByPolicy(state) ?? failureOf(state, now) ?? indexFailure(state)
  if (failure !== undefined) return { type: 'Failed', ...failure }
  const rule = state.doneIndexes && metSuccessRule(state.job, state.doneIndexes)
  if (rule === undefined) return undefined
  return { type: 'Complete', reason: 'SuccessPolicy', message: `Matched rules at index ${rule}`, byPolicy: true }
}

/** The verdict for a Job in which enough pods have succeeded. */
export const completion: Verdict & Reason = {
  type: 'Complete',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
}

function announcedVerdict({ status }: Job): Verdict | undefined {
  for (const type of ['Complete', 'Failed'] as const) {
    const condition = status?.conditions?.find((each) => each.type === announcements[type] && each.status === 'True')
    const { reason, message } = condition ?? {}
    if (condition !== undefined) return { type, ...(reason && { reason }), ...(message && { message }) }
  }
  return undefined
}

function failureByPolicy({ job, counted, features }: JobState): (Reason & { byPolicy: true }) | undefined {
  if (job.spec?.podFailurePolicy === undefined) return undefined
  for (const pod of counted) {
    const match = hasFailed(job, pod, features) ? matchFailurePolicy(job, pod) : undefined
    if (match?.action === 'FailJob') return { reason: 'PodFailurePolicy', message: match.message, byPolicy: true }
  }
  return undefined
}

function failureOf(state: JobState, now: number): Reason | undefined {
  if (exceedsBackoffLimit(state))
    return { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  const remainingMs = deadlineInMs(state.job, now)
  if (remainingMs !== undefined && remainingMs <= 0)
    return { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }
  return undefined
}

/**
 * Whether the failures exceed the backoff limit. Without tracking, failed pods count only if a failure is new. A
 * failure is not new if the desired number of pods is already active, because an earlier step has then replaced the
 * failed pod without writing the status. With restartPolicy OnFailure, container restarts count instead.
 */
function exceedsBackoffLimit({
  job: { spec = {}, status = {} },
  active,
  failed,
  restarts,
  features,
}: JobState): boolean {
  const { backoffLimit = 6, parallelism = 1 } = spec
  const isNew = features.tracksPods || (failed > (status.failed ?? 0) && active.length !== parallelism)
  if (isNew && failed > backoffLimit) return true
  if (spec.template?.spec?.restartPolicy !== 'OnFailure') return false
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit
}

function indexFailure({ job, doneIndexes, failedIndexes }: JobState): Reason | undefined {
  if (doneIndexes === undefined || failedIndexes === undefined || failedIndexes.size === 0) return undefined
  const { completions = 0, maxFailedIndexes } = job.spec ?? {}
  if (maxFailedIndexes !== undefined && failedIndexes.size > maxFailedIndexes)
    return {
      reason: 'MaxFailedIndexesExceeded',
      message: 'Job has exceeded the specified maximal number of failed indexes',
    }
  if (failedIndexes.size + doneIndexes.size < completions) return undefined
  return { reason: 'FailedIndexes', message: 'Job has failed indexes' }
}

/**
 * Returns the milliseconds until the active deadline. Returns undefined if the Job has no deadline, has not started or
 * is suspended.
 */
export function deadlineInMs(job: Job, now: number): number | undefined {
  const { spec = {}, status = {} } = job
  const started = Date.parse(status.startTime ?? '')
  if (spec.activeDeadlineSeconds === undefined || Number.isNaN(started) || isSuspended(job)) return undefined
  return started + spec.activeDeadlineSeconds * 1000 - now
}

/**
 * Selects the finished pods that the status of a Job counts in this step, and removes the tracking finalizer from them.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { indexOf } from './completion-indexes.ts'
import { countsAsFailure, hasFailed, hasSucceeded, type JobState } from './job-state.ts'
import type { JobStep } from './job-status.ts'
import type { Counters } from './tracking.ts'

export interface Account {
  /** The counters to write. The pods of this step are listed as uncounted until their finalizers are removed. */
  readonly counters: Counters
  /** Pods to release: their finalizers are removed after the Job's status lists them. */
  readonly released: readonly Pod[]
  /** Whether this step handles all remaining pods. */
  readonly isComplete: boolean
}

/** Maximum number of pods per step, which limits the size of the status. */
const maxPerStep = 500

export function accountFor({ state, verdict, active }: JobStep): Account {
  const { counters, counted, features } = state
  const isFailure = verdict?.type === 'Failed'
  if (!features.tracksPods) {
    const failed = counters.failed + (isFailure ? state.active.length - active : 0)
    return { counters: { ...counters, failed }, released: [], isComplete: true }
  }
  const isOver = verdict !== undefined || state.job.metadata.deletionTimestamp !== undefined
  const releasable = counted.filter((pod) => isOver || mayRelease(state, pod))
  const released = releasable.slice(0, maxPerStep)
  const { succeeded, failed } = counters.uncounted
  const noticed = new Set([...succeeded, ...failed])
  const unnoticed = released.filter((pod) => !noticed.has(pod.metadata.uid!) && countsByPod(state, pod))
  const newlySucceeded = state.doneIndexes === undefined ? unnoticed.filter(hasSucceeded) : []
  const newlyFailed = unnoticed.filter(
    (pod) =>
      !hasSucceeded(pod) && (isFailure || hasFailed(state.job, pod, features)) && countsAsFailure(state.job, pod),
  )
  const uncounted = { succeeded: [...succeeded, ...uids(newlySucceeded)], failed: [...failed, ...uids(newlyFailed)] }
  return { counters: { ...counters, uncounted }, released, isComplete: releasable.length === released.length }
}

/**
 * Whether the tracking finalizer of a finished pod can be removed. The last failed pod of an index keeps it until a
 * replacement pod has taken over its failure count.
 */
function mayRelease({ job, features, replaceable }: JobState, pod: Pod): boolean {
  if (hasSucceeded(pod)) return true
  if (!hasFailed(job, pod, features)) return false
  const index = indexOf(pod, { vendor: features.vendor, completions: job.spec?.completions ?? 0 })
  return index === undefined || replaceable.get(index) !== pod
}

/** Whether the status of a Job counts a pod. In an Indexed Job, only pods with a valid index count. */
function countsByPod({ job, features, doneIndexes }: JobState, pod: Pod): boolean {
  if (doneIndexes === undefined) return true
  return indexOf(pod, { vendor: features.vendor, completions: job.spec?.completions ?? 0 }) !== undefined
}

function uids(pods: readonly Pod[]): string[] {
  return pods.map(({ metadata }) => metadata.uid!)
}

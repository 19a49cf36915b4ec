/**
 * Derives the progress of a Job from its pods and status, without writing anything. `verdict.ts` decides whether the
 * Job has ended.
 */
import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { hasEnded, isActive, isReady, isTerminating } from '../workloads/pod-state.ts'
import { indexOf } from './completion-indexes.ts'
import { matchFailurePolicy } from './failure-policy.ts'
import { earlierFailures, failsIndex, hasBackoffPerIndex } from './index-failures.ts'
import { IndexSet } from './index-set.ts'
import type { JobFeatures } from './job-features.ts'
import { type Counters, isTracked, settledCounters } from './tracking.ts'

/** A Job with its pods, grouped and counted by state. */
export interface JobState {
  readonly job: Job
  readonly features: JobFeatures
  readonly active: readonly Pod[]
  /** Pods that are marked for deletion but have not terminated yet. */
  readonly terminating: readonly Pod[]
  readonly succeeded: number
  readonly failed: number
  /** Completed indexes. Undefined if the Job is not Indexed. */
  readonly doneIndexes: IndexSet | undefined
  /** Failed indexes. Undefined if the Job has no backoffLimitPerIndex. */
  readonly failedIndexes: IndexSet | undefined
  readonly restarts: number
  /**
   * The pods that the loop counts when they terminate: those with the finalizer, or all pods if the Job is not tracked.
   */
  readonly counted: readonly Pod[]
  /** The counters of the status before this step. For a Job without tracking, the counts of the existing pods. */
  readonly counters: Counters
  /**
   * The last failed pod of each index that will be retried. These pods keep their finalizers until they are replaced.
   */
  readonly replaceable: ReadonlyMap<number, Pod>
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

export function countPods(job: Job, pods: readonly Pod[], features: JobFeatures): JobState {
  const { vendor, tracksPods } = features
  const counted = tracksPods ? pods.filter((pod) => isTracked(pod, vendor)) : pods
  const succeededPods = counted.filter(hasSucceeded)
  const failedPods = counted.filter((pod) => hasFailed(job, pod, features))
  const active = pods.filter(isActive)
  const counters = tracksPods
    ? settledCounters(job, new Set(counted.map(({ metadata }) => metadata.uid!)))
    : { succeeded: succeededPods.length, failed: failedPods.length, uncounted: { succeeded: [], failed: [] } }
  const indexes = countIndexes({ job, features, active, succeededPods, failedPods })
  const running = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
  return {
    job,
    features,
    active,
    terminating: pods.filter((pod) => isTerminating(pod) && !hasEnded(pod)),
    succeeded:
      indexes.doneIndexes?.size ??
      (tracksPods ? countWith(counters, 'succeeded', succeededPods) : succeededPods.length),
    failed: tracksPods
      ? countWith(
          counters,
          'failed',
          failedPods.filter((pod) => countsAsFailure(job, pod)),
        )
      : failedPods.length,
    restarts: running.reduce((sum, pod) => sum + restartsOf(pod), 0),
    counted,
    counters,
    ...indexes,
  }
}

/** Counts finished pods that the counters do not include yet. */
function countWith(
  { uncounted, ...counters }: Counters,
  outcome: 'succeeded' | 'failed',
  ended: readonly Pod[],
): number {
  const noticed = new Set([...uncounted.succeeded, ...uncounted.failed])
  const added = ended.filter(({ metadata }) => !noticed.has(metadata.uid!))
  return counters[outcome] + uncounted[outcome].length + added.length
}

interface IndexParts extends Pick<JobState, 'job' | 'features' | 'active'> {
  readonly succeededPods: readonly Pod[]
  readonly failedPods: readonly Pod[]
}

function countIndexes(parts: IndexParts): Pick<JobState, 'doneIndexes' | 'failedIndexes' | 'replaceable'> {
  const { job, features, active, succeededPods, failedPods } = parts
  const { completionMode, completions = 0 } = job.spec ?? {}
  const none = { doneIndexes: undefined, failedIndexes: undefined, replaceable: new Map() }
  if (completionMode !== 'Indexed') return none
  const { vendor, tracksPods } = features
  const indexesOf = (pods: readonly Pod[]) =>
    IndexSet.of(pods.flatMap((pod) => indexOf(pod, { vendor, completions }) ?? []))
  const { completedIndexes, failedIndexes: failedBefore } = job.status ?? {}
  const earlier = IndexSet.parse(tracksPods ? completedIndexes : '', completions)
  const doneIndexes = earlier.union(indexesOf(succeededPods))
  if (!hasBackoffPerIndex(job) || !tracksPods) return { ...none, doneIndexes }
  const newlyFailed = indexesOf(failedPods.filter((pod) => failsIndex(job, pod, vendor)))
  const failedIndexes = IndexSet.parse(failedBefore, completions).union(newlyFailed)
  const settled = doneIndexes.union(failedIndexes, indexesOf(active))
  return { doneIndexes, failedIndexes, replaceable: lastFailures(parts, settled) }
}

/** Returns the last failed pod of each unfinished index that has no active pod. */
function lastFailures({ job, features: { vendor }, failedPods }: IndexParts, settled: IndexSet): Map<number, Pod> {
  const last = new Map<number, Pod>()
  const failuresOf = (pod: Pod | undefined) => {
    if (pod === undefined) return -1
    const { failures, ignored } = earlierFailures(pod, vendor)
    return failures + ignored
  }
  for (const pod of failedPods) {
    const index = indexOf(pod, { vendor, completions: job.spec?.completions ?? 0 })
    if (index === undefined || settled.has(index)) continue
    if (failuresOf(pod) > failuresOf(last.get(index))) last.set(index, pod)
  }
  return last
}

export function hasSucceeded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded'
}

/** Whether pods are replaced, and count as failed, only after they have completely terminated. */
export function awaitsTermination({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed'
}

/**
 * Whether the pod has failed. In a tracked Job, a pod that is marked for deletion counts as failed, unless the Job
 * waits until its pods have terminated.
 */
export function hasFailed(job: Job, pod: Pod, { tracksPods }: JobFeatures): boolean {
  if (pod.status?.phase === 'Failed') return true
  return tracksPods && isTerminating(pod) && !hasSucceeded(pod) && !awaitsTermination(job)
}

/** Whether a failed pod counts toward backoffLimit. */
export function countsAsFailure(job: Job, pod: Pod): boolean {
  return matchFailurePolicy(job, pod)?.action !== 'Ignore'
}

export function countReady(pods: readonly Pod[]): number {
  return pods.filter(isReady).length
}

function restartsOf({ status = {} }: Pod): number {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return all.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)
}

/** Returns the desired number of active pods. */
export function wantedActive({ job: { spec = {} }, active, succeeded, failedIndexes }: JobState): number {
  const { parallelism = 1, completions } = spec
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism
  return Math.max(0, Math.min(completions - succeeded - (failedIndexes?.size ?? 0), parallelism))
}

/** Whether enough pods have succeeded and no pod is active. */
export function isComplete({ job: { spec = {} }, succeeded }: JobState, active: number): boolean {
  return active === 0 && (spec.completions === undefined ? succeeded > 0 : succeeded >= spec.completions)
}

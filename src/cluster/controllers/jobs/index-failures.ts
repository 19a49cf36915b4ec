/**
 * Tracks the failures of each index in a Job with backoffLimitPerIndex. An annotation on each pod counts the earlier
 * failures of its index. The last failed pod of an index therefore keeps its finalizer until a replacement pod exists
 * and inherits the count.
 */
import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { matchFailurePolicy } from './failure-policy.ts'

/**
 * Numbers of failures of an index. `failures` is the number of failures that count toward the limit. `ignored` is the
 * number of failures that the Job's failure policy excludes.
 */
export interface IndexFailureCounts {
  readonly failures: number
  readonly ignored: number
}

function failureKey(vendor: Vendor): string {
  return vendorKey(vendor, 'job-index-failure-count', 'batch')
}

function ignoredKey(vendor: Vendor): string {
  return vendorKey(vendor, 'job-index-ignored-failure-count', 'batch')
}

export function hasBackoffPerIndex({ spec }: Job): boolean {
  return spec?.backoffLimitPerIndex !== undefined && spec.completionMode === 'Indexed'
}

/** Returns the number of failures of the index before this pod. */
export function earlierFailures({ metadata: { annotations = {} } }: Pod, vendor: Vendor): IndexFailureCounts {
  const read = (text = '0') => (/^\d{1,9}$/.test(text) ? Number(text) : 0)
  return { failures: read(annotations[failureKey(vendor)]), ignored: read(annotations[ignoredKey(vendor)]) }
}

/** Returns the number of failures of the index, including this failed pod. */
function failuresWith(job: Job, pod: Pod, vendor: Vendor): IndexFailureCounts {
  const { failures, ignored } = earlierFailures(pod, vendor)
  const isIgnored = matchFailurePolicy(job, pod)?.action === 'Ignore'
  return isIgnored ? { failures, ignored: ignored + 1 } : { failures: failures + 1, ignored }
}

/** Whether the index of this failed pod has failed permanently. */
export function failsIndex(job: Job, pod: Pod, vendor: Vendor): boolean {
  const action = matchFailurePolicy(job, pod)?.action
  if (action === 'FailIndex') return true
  if (action === 'Ignore') return false
  return earlierFailures(pod, vendor).failures >= (job.spec?.backoffLimitPerIndex ?? 0)
}

/** Returns the annotations for the next pod of the index. `replaced` is the failed pod, if any. */
export function failureAnnotations(job: Job, replaced: Pod | undefined, vendor: Vendor): { [key: string]: string } {
  const counts = replaced === undefined ? { failures: 0, ignored: 0 } : failuresWith(job, replaced, vendor)
  return {
    [failureKey(vendor)]: String(counts.failures),
    ...(counts.ignored > 0 ? { [ignoredKey(vendor)]: String(counts.ignored) } : {}),
  }
}

const firstPauseMs = 10_000
const maxPauseMs = 600_000

/** Returns the milliseconds until the failed pod of an index may be replaced. 0 means that it may be replaced now. */
export function replacementInMs(job: Job, failed: Pod, { vendor, now }: { vendor: Vendor; now: number }): number {
  const { failures, ignored } = failuresWith(job, failed, vendor)
  const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (failures + ignored - 1))
  return Math.max(0, (finishedAt(failed) ?? now) + pauseMs - now)
}

/**
 * Returns when the last container of a pod terminated or when the pod was deleted, or undefined if that time is
 * unknown.
 */
function finishedAt({ metadata, status = {} }: Pod): number | undefined {
  const ends = (status.containerStatuses ?? []).map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''))
  const endTimes = [...ends, Date.parse(metadata.deletionTimestamp ?? '')].filter((time) => !Number.isNaN(time))
  if (endTimes.length > 0) return Math.max(...endTimes)
  const changed = Date.parse(status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '')
  return Number.isNaN(changed) ? undefined : changed
}

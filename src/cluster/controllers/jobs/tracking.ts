/**
 * Counts each pod of a Job exactly once, even if a client deletes the pod. A finalizer keeps a pod until the status
 * counts it. A step first writes the UIDs of finished pods to status.uncountedTerminatedPods, then removes their
 * finalizers, and then moves the UIDs into the counters. If the process stops in between, the next process continues
 * from the status.
 */
import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { vendorKey } from '../../../api/model/vendor.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOf } from '../../../client/requests/resource-type.ts'
import { isInvalid } from '../../../client/requests/status-error.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'

export function trackingFinalizer(vendor: Vendor): string {
  return vendorKey(vendor, 'job-tracking', 'batch')
}

export function isTracked({ metadata: { finalizers = [] } }: Pod, vendor: Vendor): boolean {
  return finalizers.includes(trackingFinalizer(vendor))
}

/** Counters of a status, and the UIDs of finished pods that the counters do not include yet. */
export interface Counters {
  readonly succeeded: number
  readonly failed: number
  readonly uncounted: Uncounted
}

export interface Uncounted {
  readonly succeeded: readonly string[]
  readonly failed: readonly string[]
}

/** Returns the counters of the status, including those uncounted pods that have lost their finalizer. */
export function settledCounters({ status = {} }: Job, trackedUids: ReadonlySet<string>): Counters {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const counters = { succeeded: status.succeeded ?? 0, failed: status.failed ?? 0, uncounted: { succeeded, failed } }
  return countReleased(counters, (uid) => !trackedUids.has(uid))
}

/** Adds released pods to the counters and removes their UIDs from the list. */
export function countReleased(
  { succeeded, failed, uncounted }: Counters,
  isReleased: (uid: string) => boolean,
): Counters {
  const keep = (uids: readonly string[]) => uids.filter((uid) => !isReleased(uid))
  const remaining = { succeeded: keep(uncounted.succeeded), failed: keep(uncounted.failed) }
  return {
    succeeded: succeeded + uncounted.succeeded.length - remaining.succeeded.length,
    failed: failed + uncounted.failed.length - remaining.failed.length,
    uncounted: remaining,
  }
}

/** Removes the finalizer from a pod. Succeeds if the pod or its finalizer no longer exists. */
export async function releasePod(
  client: Client,
  pod: Pod,
  { vendor, signal }: { readonly vendor: Vendor; readonly signal: AbortSignal },
): Promise<void> {
  if (!isTracked(pod, vendor)) return
  const { uid } = pod.metadata
  const metadata = { uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer(vendor)] }
  try {
    await ignoreNotFound(client.patch(kinds.Pod, nameOf(pod), { patch: { strategic: { metadata } }, signal }))
  } catch (error) {
    // The server rejects the patch as invalid if the name now belongs to a different pod.
    if (!isInvalid(error)) throw error
  }
}

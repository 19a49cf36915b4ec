/** Features of the Job loop that depend on the emulated Kubernetes version. */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'

export interface JobFeatures {
  readonly vendor: Vendor
  /**
   * Whether a finalizer keeps each pod until the status of the Job counts the pod. If false, the loop counts only pods
   * that exist.
   */
  readonly tracksPods: boolean
  /** Whether the loop reports status.ready. */
  readonly reportsReady: boolean
  /** Whether the loop reports status.terminating and applies podReplacementPolicy. */
  readonly reportsTerminating: boolean
  /** Whether the pods of Indexed Jobs also have their index as a label. */
  readonly hasIndexLabel: boolean
  /**
   * Whether a Job ends only after its pods have terminated. Such a Job first gets a condition that announces its end.
   */
  readonly announcesEnd: boolean
  /** Whether the API server rejects statuses whose counters decrease. */
  readonly hasStrictStatus: boolean
}

export function jobFeatures({ version, gates }: Emulation, vendor: Vendor): JobFeatures {
  const reportsTerminating = gates.has('JobPodReplacementPolicy')
  const hasStrictStatus = gates.has('JobManagedBy')
  return {
    vendor,
    tracksPods: isAtLeast(version, '1.26') || gates.has('JobTrackingWithFinalizers'),
    reportsReady: isAtLeast(version, '1.29') || gates.has('JobReadyPods'),
    reportsTerminating,
    hasIndexLabel: isAtLeast(version, '1.28'),
    announcesEnd: isAtLeast(version, '1.31') && (reportsTerminating || hasStrictStatus),
    hasStrictStatus,
  }
}

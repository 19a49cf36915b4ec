/** Helpers for ResourceClaims that are generated for pods, such as their annotation, finalizer and owner. */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import type { OwnerReference } from '../../../api/model/object.ts'
import { groupName, type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/** Returns the key of the annotation that contains a claim's name in the spec of its pod. */
export function podClaimAnnotation(vendor: Vendor): string {
  return vendorKey(vendor, 'pod-claim-name', 'resource')
}

/** Returns the finalizer that protects an allocated claim while pods use it. */
export function claimFinalizer(vendor: Vendor): string {
  return `${groupName(vendor, 'resource')}/delete-protection`
}

/** Returns the owner reference to the pod for which a claim was generated, if any. */
export function owningPod({ metadata }: ResourceClaim): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ kind, apiVersion, controller }) => {
    return controller === true && kind === 'Pod' && apiVersion === 'v1'
  })
}

export function isOwnedBy(claim: ResourceClaim, { metadata }: Pod): boolean {
  return owningPod(claim)?.uid === metadata.uid
}

/** Returns the names of the claims that were generated for a pod, from its status. */
export function generatedClaims({ status }: Pod): string[] {
  return (status?.resourceClaimStatuses ?? []).flatMap(({ resourceClaimName }) => resourceClaimName ?? [])
}

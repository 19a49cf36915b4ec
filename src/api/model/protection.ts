/**
 * The finalizers that protect volumes and claims while they are used. Admission adds them and controllers remove them.
 */
import { type Vendor, vendorKey } from './vendor.ts'

/** Returns the finalizer of claims that a pod uses. */
export function claimProtection(vendor: Vendor): string {
  return vendorKey(vendor, 'pvc-protection')
}

/** Returns the finalizer of VolumeAttributesClasses that a claim or volume uses. */
export function attributesClassProtection(vendor: Vendor): string {
  return vendorKey(vendor, 'vac-protection')
}

/** Returns the finalizer of volumes that are bound to a claim. */
export function volumeProtection(vendor: Vendor): string {
  return vendorKey(vendor, 'pv-protection')
}

/** The finalizers that protect storage in use. Admission adds them and controllers remove them. */
import { type Vendor, vendorKey } from './vendor.ts'

/** The finalizer of claims that a pod uses. */
export function claimProtection(vendor: Vendor): string {
  return vendorKey(vendor, 'pvc-protection')
}

/** The finalizer of VolumeAttributesClasses that a claim or volume uses. */
export function attributesClassProtection(vendor: Vendor): string {
  return vendorKey(vendor, 'vac-protection')
}

/** The finalizer of volumes that are bound to a claim. */
export function volumeProtection(vendor: Vendor): string {
  return vendorKey(vendor, 'pv-protection')
}

/**
 * The finalizers that protect volumes, claims and ServiceCIDRs while they are in use. Admission or controllers add the
 * finalizers, and controllers remove them.
 */
import { groupName, type Vendor, vendorKey } from './vendor.ts'

/** Returns the finalizer that protects claims used by pods. */
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

/** Returns the finalizer of ServiceCIDRs that contain addresses in use. */
export function serviceCidrProtection(vendor: Vendor): string {
  return `${groupName(vendor, 'networking')}/service-cidr-finalizer`
}

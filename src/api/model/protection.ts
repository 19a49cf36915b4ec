/** The finalizers that keep storage which is in use: admission adds them, and control loops take them away. */
import { type Vendor, vendorKey } from './vendor.ts'

/** Of claims, while a pod uses them. */
export function claimProtection(vendor: Vendor): string {
  return vendorKey(vendor, 'pvc-protection')
}

/** Of volumes, while a claim is bound to them. */
export function volumeProtection(vendor: Vendor): string {
  return vendorKey(vendor, 'pv-protection')
}

/**
 * Labels and names that servers use to track legacy service account tokens, which are stored in Secrets. Servers since
 * 1.27 label a Secret with the day of its last use. The cleaner labels an unused Secret with the first day on which
 * servers reject its token, and deletes the Secret later.
 */
import type { ApiObject } from './object.ts'
import { type Vendor, vendorKey } from './vendor.ts'

/** Returns the label that records the day of a token Secret's last use. */
export function lastUsedLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'legacy-token-last-used')
}

/** Returns the label that records the first day on which a Secret's token is rejected. */
export function invalidSinceLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'legacy-token-invalid-since')
}

/** Name of the ConfigMap that records, under the key `since`, when tracking started. */
export const trackingConfigMap = 'kube-apiserver-legacy-service-account-token-tracking'

/** Returns the UTC day, such as `2030-01-31`, that contains a time in milliseconds. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** Returns the start of a day in milliseconds, or undefined if the string is not a day. */
export function startOfDay(day: string | undefined): number | undefined {
  if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined
  const start = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(start) || dayOf(start) !== day ? undefined : start
}

/** Whether the cleaner has marked the Secret's token as invalid. */
export function isMarkedInvalid({ metadata }: ApiObject, vendor: Vendor): boolean {
  return Boolean(metadata.labels?.[invalidSinceLabel(vendor)])
}

/**
 * Names with which servers track the use of legacy service account tokens, which are stored in Secrets. Servers since
 * 1.27 label a Secret with the day of its last use. The cleaner labels an unused Secret with the day from which servers
 * reject its token, and deletes the Secret later.
 */
import type { ApiObject } from './object.ts'
import { type Vendor, vendorKey } from './vendor.ts'

/** Label of a token Secret: the day on which its token was last used. */
export function lastUsedLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'legacy-token-last-used')
}

/** Label of a token Secret: the day since which its token is rejected. */
function invalidSinceLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'legacy-token-invalid-since')
}

/** Name of the ConfigMap in the system namespace whose key `since` is the day on which tracking started. */
export const trackingConfigMap = 'kube-apiserver-legacy-service-account-token-tracking'

/** Formats the UTC day of a time in milliseconds: `2030-01-31`. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** Returns the start of a day in milliseconds; undefined if the text is not a day. */
export function startOfDay(day: string | undefined): number | undefined {
  if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined
  const start = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(start) || dayOf(start) !== day ? undefined : start
}

/** Whether the cleaner marked the Secret's token as invalid. */
export function isMarkedInvalid({ metadata }: ApiObject, vendor: Vendor): boolean {
  return Boolean(metadata.labels?.[invalidSinceLabel(vendor)])
}

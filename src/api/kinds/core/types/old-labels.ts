/** Node labels that newer labels have replaced. */
import { type Vendor, vendorKey } from '../../../model/vendor.ts'

/** Returns the deprecated node labels and their replacements. */
export function oldLabels(vendor: Vendor): Map<string, string> {
  return new Map([
    [vendorKey(vendor, 'arch', 'beta'), vendorKey(vendor, 'arch')],
    [vendorKey(vendor, 'os', 'beta'), vendorKey(vendor, 'os')],
    [vendorKey(vendor, 'region', 'failure-domain.beta'), vendorKey(vendor, 'region', 'topology')],
    [vendorKey(vendor, 'zone', 'failure-domain.beta'), vendorKey(vendor, 'zone', 'topology')],
    [vendorKey(vendor, 'instance-type', 'beta'), vendorKey(vendor, 'instance-type', 'node')],
  ])
}

/** A use of a node label in an object: the label key and the field path. */
export type LabelUse = readonly [key: string, path: string]

/** Returns a warning for every use of a deprecated node label. */
export function oldLabelWarnings(uses: readonly LabelUse[], vendor: Vendor): string[] {
  if (uses.length === 0) return []
  const old = oldLabels(vendor)
  return uses
    .filter(([label]) => old.has(label))
    .map(([label, path]) => `${path}: ${label} is deprecated; use "${old.get(label)}" instead`)
}

/**
 * Labels that a node agent may set on its Node. Labels outside the Kubernetes domains are unrestricted. In the
 * Kubernetes domains, an agent may set the labels that describe the machine and the labels in two dedicated domains.
 * All other labels, including those under `node-restriction`, are reserved for administrators to isolate workloads.
 */
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

type Labels = { readonly [key: string]: string } | undefined

/** Returns the labels that a node agent must not change, sorted by key. */
export function forbiddenLabels(keys: Iterable<string>, vendor: Vendor): string[] {
  const own = ownLabels(vendor)
  return [...keys].filter((key) => isRestricted(key, vendor, own)).sort()
}

/** Returns the keys of all labels that differ between two label sets. */
export function changedLabels(next: Labels = {}, previous: Labels = {}): string[] {
  const keys = new Set([...Object.keys(next), ...Object.keys(previous)])
  const valueIn = (labels: Labels, key: string) => (Object.hasOwn(labels!, key) ? labels![key] : undefined)
  return [...keys].filter((key) => valueIn(next, key) !== valueIn(previous, key))
}

function isRestricted(key: string, vendor: Vendor, own: ReadonlySet<string>): boolean {
  const slash = key.indexOf('/')
  if (slash < 0) return false
  const domain = key.slice(0, slash)
  if (isWithin(domain, `node-restriction.${vendor.keyDomain}`)) return true
  if (!isWithin(domain, vendor.keyDomain) && !isWithin(domain, vendor.groupDomain)) return false
  return !own.has(key) && ![vendor.nodeAgent, 'node'].some((name) => isWithin(domain, `${name}.${vendor.keyDomain}`))
}

/** Whether `domain` equals `other` or is a subdomain of it. */
function isWithin(domain: string, other: string): boolean {
  return domain === other || domain.endsWith(`.${other}`)
}

/** Labels that describe the machine, with their current and former names. */
function ownLabels(vendor: Vendor): ReadonlySet<string> {
  const places = ['zone', 'region']
  return new Set([
    ...['hostname', 'arch', 'os'].map((key) => vendorKey(vendor, key)),
    ...['arch', 'os', 'instance-type'].map((key) => vendorKey(vendor, key, 'beta')),
    vendorKey(vendor, 'instance-type', 'node'),
    ...places.map((key) => vendorKey(vendor, key, 'topology')),
    ...places.map((key) => vendorKey(vendor, key, 'failure-domain.beta')),
  ])
}

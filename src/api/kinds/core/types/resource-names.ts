/**
 * The names of resources, and what their amounts may be: those that the system knows itself (`cpu`, `requests.memory`),
 * pages of memory by their size (`hugepages-2Mi`), and those that nodes advertise (`example.com/gpu`). Which of them a
 * kind takes is its own to say.
 */
import { type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'
import { checkQualifiedName } from '../../../model/names.ts'
import { int64Value, parseQuantity, type Quantity, quantitySign } from '../../../model/quantity.ts'
import { isVendorKey, type Vendor } from '../../../model/vendor.ts'

const containerNames = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** What quotas count of pods, beside their number. */
export const computeNames = new Set(['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'])

/** Numbers of objects: never a fraction. */
const countNames = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])

const quotaNames = new Set([
  ...computeNames,
  ...countNames,
  'ephemeral-storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
  'requests.storage',
])

const standardNames = new Set([...quotaNames, 'storage'])

/** A name of any resource: qualified by a domain, or one that the system knows. */
export function checkResourceName(name: string, path: FieldPath): FieldError[] {
  const faults = checkQualifiedName(name)
  if (faults.length > 0) return faults.map((text) => invalid(path, name, text))
  return name.includes('/') || standardNames.has(name) || isQuotaHugePages(name)
    ? []
    : [invalid(path, name, 'must be a standard resource type or fully qualified')]
}

/** A name of what a container can use. */
export function checkContainerResourceName(name: string, path: FieldPath, vendor: Vendor): FieldError[] {
  const errors = checkResourceName(name, path)
  if (!name.includes('/'))
    return containerNames.has(name) || isHugePages(name)
      ? errors
      : [...errors, invalid(path, name, 'must be a standard resource for containers')]
  return isNative(name, vendor) || isExtended(name, vendor)
    ? errors
    : [...errors, invalid(path, name, "doesn't follow the extended resource name standard")]
}

/** A name of what a quota can limit. */
export function checkQuotaResourceName(name: string, path: FieldPath): FieldError[] {
  const known = name.includes('/') || isStandardForQuota(name)
  return [
    ...checkResourceName(name, path),
    ...(known ? [] : [invalid(path, name, 'must be a standard resource for quota')]),
  ]
}

export function isStandardForQuota(name: string): boolean {
  return quotaNames.has(name) || isQuotaHugePages(name)
}

const nanosInOne = 1_000_000_000n
const nanosInMilli = 1_000_000n

/** How much of which resource: `['cpu', '500m']`. */
export type Amount = readonly [name: string, text: string]

/** Never negative, and whole where the resource cannot be split. */
export function checkResourceAmount([name, text]: Amount, path: FieldPath, vendor: Vendor): FieldError[] {
  if (text.startsWith('-') && quantitySign(quantityOf(text)) < 0)
    return [invalid(path, text, 'must be greater than or equal to 0')]
  if (!countNames.has(name) && !isExtended(name, vendor)) return []
  return isInteger(quantityOf(text)) ? [] : [invalid(path, text, 'must be an integer')]
}

/** Kubernetes counts thousandths in 64 bits. An amount that overflows them is usually no multiple of 1000 any more. */
function isInteger({ nanos }: Quantity): boolean {
  return nanos % nanosInOne === 0n && BigInt.asIntN(64, nanos / nanosInMilli) % 1000n === 0n
}

/** Every quantity in a decoded object can be read. */
export function quantityOf(text: string): Quantity {
  const quantity = parseQuantity(text)
  if (quantity === undefined) throw new TypeError(`${text} is no quantity`)
  return quantity
}

/** Whether storage can have this size: its bytes, as Kubernetes counts them in 64 bits, are not negative. */
export function isStorageSize(text: string): boolean {
  return quantitySign(quantityOf(text)) >= 0 && int64Value(text) >= 0n
}

export const hugePages = 'hugepages-'

export function isHugePages(name: string): boolean {
  return name.startsWith(hugePages)
}

function isQuotaHugePages(name: string): boolean {
  return isHugePages(name) || name.startsWith(`requests.${hugePages}`)
}

/** A resource that the system itself knows, as against one that a node advertises. */
function isNative(name: string, vendor: Vendor): boolean {
  return !name.includes('/') || isVendorKey(vendor, name)
}

/** Whether nodes advertise the resource, as `example.com/gpu`, and it is none of the vendor's own. */
export function isExtended(name: string, vendor: Vendor): boolean {
  const free = !isNative(name, vendor) && !name.startsWith('requests.')
  return free && checkQualifiedName(`requests.${name}`).length === 0
}

/** Whether more of it may be promised than there is: what is idle can be used by others. */
export function canOvercommit(name: string, vendor: Vendor): boolean {
  return isNative(name, vendor) && !isHugePages(name)
}

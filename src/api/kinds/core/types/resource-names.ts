/**
 * Validation of resource names and amounts. A name is standard (`cpu`, `requests.memory`), names huge pages of one size
 * (`hugepages-2Mi`), or names an extended resource that nodes advertise (`example.com/gpu`). Each kind decides which
 * names it accepts.
 */
import { type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'
import { checkQualifiedName } from '../../../model/names.ts'
import { int64Value, parseQuantity, type Quantity, quantitySign } from '../../../model/quantity.ts'
import { isVendorKey, type Vendor } from '../../../model/vendor.ts'

const containerNames = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** Names of the compute resources in quotas. */
export const computeNames = new Set(['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'])

/** Resources that count objects. Their amounts must be integers. */
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

/** Whether a resource name is a standard name or a name with a domain. */
export function checkResourceName(name: string, path: FieldPath): FieldError[] {
  const faults = checkQualifiedName(name)
  if (faults.length > 0) return faults.map((text) => invalid(path, name, text))
  return name.includes('/') || standardNames.has(name) || isQuotaHugePages(name)
    ? []
    : [invalid(path, name, 'must be a standard resource type or fully qualified')]
}

/** Validates the name of a resource in the requests or limits of a container. */
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

/** Validates the name of a resource in a quota. */
export function checkQuotaResourceName(name: string, path: FieldPath): FieldError[] {
  const isValidName = name.includes('/') || isStandardForQuota(name)
  return [
    ...checkResourceName(name, path),
    ...(isValidName ? [] : [invalid(path, name, 'must be a standard resource for quota')]),
  ]
}

export function isStandardForQuota(name: string): boolean {
  return quotaNames.has(name) || isQuotaHugePages(name)
}

const nanosInOne = 1_000_000_000n
const nanosInMilli = 1_000_000n

/** A resource name and its quantity, such as `['cpu', '500m']`. */
export type Amount = readonly [name: string, text: string]

/** Rejects negative amounts, and fractions of indivisible resources. */
export function checkResourceAmount([name, text]: Amount, path: FieldPath, vendor: Vendor): FieldError[] {
  if (text.startsWith('-') && quantitySign(quantityOf(text)) < 0)
    return [invalid(path, text, 'must be greater than or equal to 0')]
  if (!countNames.has(name) && !isExtended(name, vendor)) return []
  return isInteger(quantityOf(text)) ? [] : [invalid(path, text, 'must be an integer')]
}

/**
 * Whether a quantity is an integer. Like Kubernetes, converts it to thousandths in a signed 64-bit integer, which may
 * overflow.
 */
function isInteger({ nanos }: Quantity): boolean {
  return nanos % nanosInOne === 0n && BigInt.asIntN(64, nanos / nanosInMilli) % 1000n === 0n
}

/** Parses a quantity of a decoded object. Decoding has already rejected invalid quantities. */
export function quantityOf(text: string): Quantity {
  const quantity = parseQuantity(text)
  if (quantity === undefined) throw new TypeError(`${text} is not a quantity`)
  return quantity
}

/**
 * Whether a storage size is valid. A size is valid if its value in bytes, as a 64-bit integer that may overflow, is not
 * negative.
 */
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

/** Whether the resource is standard, as opposed to one that a node advertises. */
export function isNative(name: string, vendor: Vendor): boolean {
  return !name.includes('/') || isVendorKey(vendor, name)
}

/**
 * Whether the resource is extended. Nodes advertise extended resources, such as `example.com/gpu`, and their names are
 * outside the vendor's domain.
 */
export function isExtended(name: string, vendor: Vendor): boolean {
  const free = !isNative(name, vendor) && !name.startsWith('requests.')
  return free && checkQualifiedName(`requests.${name}`).length === 0
}

/** Whether the resource can be overcommitted, so that limits may add up to more than the available amount. */
export function canOvercommit(name: string, vendor: Vendor): boolean {
  return isNative(name, vendor) && !isHugePages(name)
}

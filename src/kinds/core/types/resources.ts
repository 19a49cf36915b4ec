/** ResourceRequirements: what a container may use at most, and what it is promised. */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  maxFaults,
  required,
} from '../../../model/field-error.ts'
import { own } from '../../../model/json.ts'
import { checkQualifiedName } from '../../../model/names.ts'
import { compareQuantities, parseQuantity, type Quantity, quantitySign } from '../../../model/quantity.ts'
import { isVendorKey, type Vendor } from '../../../model/vendor.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { type ResourceList, resourceList, roundResources } from './resource-list.ts'

const fields = {
  limits: field(1, resourceList, { doc: 'The most of each resource that may be used.' }),
  requests: field(2, resourceList, { doc: 'What is promised of each resource; the limits if unset.' }),
}

export type ResourceRequirements = InferFields<typeof fields>

/** Of a container or a claim: which names are allowed is theirs to say. */
export const resourceRequirements = s.object(fields, {
  name: 'ResourceRequirements',
  doc: 'How much of each resource may be used at most, and how much is promised.',
  fill: ({ limits, requests }) => {
    roundResources(limits)
    roundResources(requests)
  },
})

const computeResources = ['cpu', 'memory']
const containerResources = [...computeResources, 'ephemeral-storage']
const nanosInOne = 1_000_000_000n
const wholeNumber = /^[0-9]{1,18}$/

/** The quantity under a name; every quantity in a decoded object can be read. */
export function quantityIn(list: ResourceList | undefined, name: string): Quantity | undefined {
  const text = list && own(list, name)
  return typeof text === 'string' ? quantityOf(text) : undefined
}

function quantityOf(text: string): Quantity {
  const quantity = parseQuantity(text)
  if (quantity === undefined) throw new TypeError(`${text} is no quantity`)
  return quantity
}

export function checkContainerResources(
  { limits = {}, requests = {} }: ResourceRequirements,
  path: FieldPath,
  vendor: Vendor,
): FieldError[] {
  return [
    ...checkResourceList(limits, child(path, 'limits'), vendor),
    ...checkResourceList(requests, child(path, 'requests'), vendor),
    ...checkRequests({ limits, requests }, path, vendor),
    ...checkHugePages([limits, requests], path),
  ]
}

function checkResourceList(list: ResourceList, path: FieldPath, vendor: Vendor): FieldError[] {
  const errors: FieldError[] = []
  for (const name of Object.keys(list)) {
    if (errors.length >= maxFaults) break
    const place = at(path, name)
    for (const error of checkContainerResourceName(name, place, vendor)) errors.push(error)
    for (const error of checkAmount(name, list[name]!, place, vendor)) errors.push(error)
  }
  return errors
}

function checkContainerResourceName(name: string, path: FieldPath, vendor: Vendor): FieldError[] {
  const errors = checkQualifiedName(name).map((text) => invalid(path, name, text))
  if (!name.includes('/'))
    return containerResources.includes(name) || isHugePages(name)
      ? errors
      : [...errors, invalid(path, name, 'must be a standard resource for containers, or fully qualified')]
  return isNative(name, vendor) || isExtended(name, vendor)
    ? errors
    : [...errors, invalid(path, name, "doesn't follow the extended resource name standard")]
}

/** An amount is not negative, and whole where the resource cannot be split. */
export function checkAmount(name: string, text: string, path: FieldPath, vendor: Vendor): FieldError[] {
  if (wholeNumber.test(text) && !isHugePages(name)) return []
  const quantity = quantityOf(text)
  if (quantitySign(quantity) < 0) return [invalid(path, text, 'must be greater than or equal to 0')]
  if (quantity.nanos % nanosInOne !== 0n && isExtended(name, vendor)) return [invalid(path, text, 'must be an integer')]
  const page = isHugePages(name) ? parseQuantity(name.slice(hugePages.length)) : undefined
  return page && page.nanos > 0n && quantity.nanos % page.nanos !== 0n
    ? [invalid(path, text, 'must be a multiple of the page size')]
    : []
}

function checkRequests(list: Required<ResourceRequirements>, path: FieldPath, vendor: Vendor): FieldError[] {
  const errors: FieldError[] = []
  for (const name of Object.keys(list.requests)) {
    // Requests that are not given are the limits.
    if (own(list.limits, name) === list.requests[name]) continue
    for (const error of checkRequest(name, list, path, vendor)) errors.push(error)
  }
  return errors
}

/** A request is at most the limit; where there can be no more than there is, it is the limit. */
function checkRequest(
  name: string,
  { limits = {}, requests = {} }: ResourceRequirements,
  path: FieldPath,
  vendor: Vendor,
): FieldError[] {
  const limit = quantityIn(limits, name)
  const overcommit = isNative(name, vendor) && !isHugePages(name)
  if (limit === undefined)
    return overcommit
      ? []
      : [required(child(path, 'limits'), `${name} cannot be overcommitted, so a limit must be set`)]
  const order = compareQuantities(quantityIn(requests, name)!, limit)
  const place = child(path, 'requests')
  if (order !== 0 && !overcommit) return [invalid(place, requests[name], `must be equal to ${name} limit`)]
  return order > 0 ? [invalid(place, requests[name], `must be less than or equal to ${name} limit`)] : []
}

function checkHugePages(lists: readonly ResourceList[], path: FieldPath): FieldError[] {
  const used = (name: string) => lists.some((list) => Object.hasOwn(list, name))
  const alone = !computeResources.some(used) && lists.some((list) => Object.keys(list).some(isHugePages))
  return alone ? [forbidden(path, 'HugePages require cpu or memory')] : []
}

const hugePages = 'hugepages-'

function isHugePages(name: string): boolean {
  return name.startsWith(hugePages)
}

/** A resource that the system itself knows, as against one that a node advertises. */
function isNative(name: string, vendor: Vendor): boolean {
  return !name.includes('/') || isVendorKey(vendor, name)
}

function isExtended(name: string, vendor: Vendor): boolean {
  const free = !isNative(name, vendor) && !name.startsWith('requests.')
  return free && checkQualifiedName(`requests.${name}`).length === 0
}

/** ResourceRequirements contains resource requests and limits. */

import { own } from '../../../json/json.ts'
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
import { compareQuantities, parseQuantity, type Quantity } from '../../../model/quantity.ts'
import type { Vendor } from '../../../model/vendor.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { type ResourceList, resourceList, roundResources } from './resource-list.ts'
import {
  type Amount,
  canOvercommit,
  checkContainerResourceName,
  checkResourceAmount,
  hugePages,
  isHugePages,
  quantityOf,
} from './resource-names.ts'

const claim = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: "Name of an entry in the pod's `spec.resourceClaims`." }),
    request: field(2, s.string(), {
      since: '1.31',
      gate: 'DynamicResourceAllocation',
      doc: 'Name of a request in the claim. If unset, the container can use all devices in the claim.',
    }),
  },
  { name: 'ResourceClaim', doc: "A container's reference to one of the pod's ResourceClaims." },
)

const fields = {
  limits: field(1, resourceList, { doc: 'Maximum amount of each resource.' }),
  requests: field(2, resourceList, {
    doc: 'Amount of each resource to reserve. For a container, defaults to the limit of the resource.',
  }),
  claims: field(3, s.list(claim, { list: 'map', keys: ['name'] }), {
    since: '1.26',
    gate: 'DynamicResourceAllocation',
    doc: "The pod's ResourceClaims that the container uses.",
  }),
}

export type ResourceRequirements = InferFields<typeof fields>

/** Requests and limits of containers and, before 1.29, of claims. The kinds validate which resources are allowed. */
export const resourceRequirements = s.object(fields, {
  name: 'ResourceRequirements',
  doc: 'Requests and limits for compute resources.',
  fill: ({ limits, requests }) => {
    roundResources(limits)
    roundResources(requests)
  },
})

const { limits, requests } = fields

/** Requests and limits of claims. Since 1.29, claims have their own type. */
export const volumeResourceRequirements = s.object(
  { limits, requests },
  {
    name: 'core.v1.VolumeResourceRequirements',
    doc: 'Requests and limits for storage.',
    fill: ({ limits, requests }) => {
      roundResources(limits)
      roundResources(requests)
    },
  },
)

const computeResources = ['cpu', 'memory']
const wholeNumber = /^[0-9]{1,15}$/

/** Returns the quantity for a resource name. Decoding has already rejected invalid quantities. */
export function quantityIn(list: ResourceList | undefined, name: string): Quantity | undefined {
  const text = list && own(list, name)
  return typeof text === 'string' ? quantityOf(text) : undefined
}

export function checkContainerResources(
  requirements: ResourceRequirements,
  path: FieldPath,
  vendor: Vendor,
): FieldError[] {
  const checkName = (name: string, place: FieldPath) => checkContainerResourceName(name, place, vendor)
  return checkResources(requirements, path, { vendor, checkName })
}

/**
 * The rules for resource names: `checkName` decides which names are allowed, and `vendor` owns the domain of the
 * standard names.
 */
interface ResourceRules {
  readonly vendor: Vendor
  readonly checkName: (name: string, path: FieldPath) => FieldError[]
}

/** Validates requests and limits. The caller decides which names are allowed. */
export function checkResources(
  { limits = {}, requests = {} }: ResourceRequirements,
  path: FieldPath,
  rules: ResourceRules,
): FieldError[] {
  return [
    ...checkResourceList(limits, child(path, 'limits'), rules),
    ...checkResourceList(requests, child(path, 'requests'), rules),
    ...checkRequests({ limits, requests }, path, rules.vendor),
    ...checkHugePages([limits, requests], path),
  ]
}

function checkResourceList(list: ResourceList, path: FieldPath, { vendor, checkName }: ResourceRules): FieldError[] {
  const errors: FieldError[] = []
  for (const name of Object.keys(list)) {
    if (errors.length >= maxFaults) break
    const place = at(path, name)
    for (const error of checkName(name, place)) errors.push(error)
    for (const error of checkAmount([name, list[name]!], place, vendor)) errors.push(error)
  }
  return errors
}

/**
 * Validates the amount of a resource. The amount must be a multiple of the page size for huge pages, and an integer for
 * indivisible resources.
 */
function checkAmount([name, text]: Amount, path: FieldPath, vendor: Vendor): FieldError[] {
  if (!isHugePages(name)) return wholeNumber.test(text) ? [] : checkResourceAmount([name, text], path, vendor)
  const errors = checkResourceAmount([name, text], path, vendor)
  const page = parseQuantity(name.slice(hugePages.length))
  const whole = page === undefined || page.nanos <= 0n || quantityOf(text).nanos % page.nanos === 0n
  return errors.length > 0 || whole ? errors : [invalid(path, text, 'must be a multiple of the page size')]
}

function checkRequests(
  list: Required<Pick<ResourceRequirements, 'limits' | 'requests'>>,
  path: FieldPath,
  vendor: Vendor,
): FieldError[] {
  const errors: FieldError[] = []
  for (const name of Object.keys(list.requests)) {
    // Skip equal requests and limits, which are common because requests default to limits.
    if (own(list.limits, name) === list.requests[name]) continue
    for (const error of checkRequest(name, list, path, vendor)) errors.push(error)
  }
  return errors
}

/**
 * Rejects a request that exceeds its limit. For resources that cannot be overcommitted, the request must equal the
 * limit.
 */
function checkRequest(
  name: string,
  { limits = {}, requests = {} }: ResourceRequirements,
  path: FieldPath,
  vendor: Vendor,
): FieldError[] {
  const limit = quantityIn(limits, name)
  const overcommit = canOvercommit(name, vendor)
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

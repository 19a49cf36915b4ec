/** Resource requests and limits of a whole pod, which its containers share. */
import { own } from '../../../json/json.ts'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
} from '../../../model/field-error.ts'
import { addQuantities, compareQuantities, formatQuantity, type Quantity } from '../../../model/quantity.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { type Container, isSidecar } from './container.ts'
import { checkClaimUse } from './container-settings.ts'
import type { ResourceList } from './resource-list.ts'
import { hugePages, isHugePages, quantityOf } from './resource-names.ts'
import { checkResources, type ResourceRequirements } from './resources.ts'

interface PodParts {
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly resourceClaims?: readonly { readonly name?: string }[]
  resources?: ResourceRequirements
}

type Amounts = Map<string, Quantity>

/** Whether requests and limits for this resource can be set on the pod itself. */
export function isPodResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name)
}

function canOvercommitInPod(name: string): boolean {
  return isPodResource(name) && !isHugePages(name)
}

/**
 * Completes the resources of a pod that specifies its own: sets missing limits for huge pages, and then missing
 * requests. Modifies the spec.
 */
export function fillPodResources(spec: PodParts): void {
  fillHugePageLimits(spec)
  fillRequests(spec)
}

/** Sets each missing limit for huge pages to the sum of the containers' limits, unless the pod requests such pages. */
function fillHugePageLimits(spec: PodParts): void {
  const { resources } = spec
  const { limits = {}, requests = {} } = resources ?? {}
  if (resources === undefined || Object.keys(limits).length + Object.keys(requests).length === 0) return
  const missing = [...containerTotals(spec, 'limits')].filter(
    ([name]) => isHugePages(name) && !Object.hasOwn(limits, name) && !Object.hasOwn(requests, name),
  )
  if (missing.length === 0) return
  resources.limits = {
    ...limits,
    ...Object.fromEntries(missing.map(([name, amount]) => [name, formatQuantity(amount)])),
  }
}

/**
 * Sets each missing request of a pod with limits to the sum of its containers' requests or, if there are none, to the
 * pod's limit. Huge pages cannot be overcommitted, so their request is always the limit.
 */
function fillRequests(spec: PodParts): void {
  const { resources } = spec
  if (resources?.limits === undefined || Object.keys(resources.limits).length === 0) return
  const requests: ResourceList = { ...resources.requests }
  for (const [name, amount] of containerTotals(spec, 'requests'))
    if (canOvercommitInPod(name) && !Object.hasOwn(requests, name)) requests[name] = formatQuantity(amount)
  for (const [name, limit] of Object.entries(resources.limits))
    if (isPodResource(name) && !Object.hasOwn(requests, name)) requests[name] = limit
  if (Object.keys(requests).length > 0) resources.requests = requests
}

/**
 * Returns the amounts that the containers need at the same time. Init containers run one after the other, alongside the
 * sidecars that started before them.
 */
function containerTotals({ containers = [], initContainers = [] }: PodParts, list: 'requests' | 'limits'): Amounts {
  const running: Amounts = new Map()
  const starting: Amounts = new Map()
  const sidecars: Amounts = new Map()
  for (const { resources } of containers) add(running, resources?.[list])
  for (const one of initContainers) {
    const together = new Map(sidecars)
    add(together, one.resources?.[list])
    keepLarger(starting, together)
    if (!isSidecar(one)) continue
    add(sidecars, one.resources?.[list])
    add(running, one.resources?.[list])
  }
  keepLarger(running, starting)
  return running
}

function add(total: Amounts, list: ResourceList = {}): void {
  for (const [name, text] of Object.entries(list)) {
    const before = total.get(name)
    total.set(name, before === undefined ? quantityOf(text) : addQuantities(before, quantityOf(text)))
  }
}

function keepLarger(total: Amounts, other: Amounts): void {
  for (const [name, amount] of other) {
    const before = total.get(name)
    if (before === undefined || compareQuantities(amount, before) > 0) total.set(name, amount)
  }
}

/** Validates the resources of a pod, both separately and in relation to the resources of its containers. */
export function checkPodResources(spec: PodParts, path: FieldPath, context: RuleContext): FieldError[] {
  const { resources } = spec
  if (resources === undefined) return []
  const claims = new Set(spec.resourceClaims?.map(({ name = '' }) => name))
  return [
    ...(resources.claims === undefined
      ? []
      : [
          forbidden(child(path, 'claims'), 'claims may not be set for Resources at pod-level'),
          ...checkClaimUse(resources.claims, claims, child(path, 'claims')),
        ]),
    ...checkResources(resources, path, { vendor: context.vendor, checkName }),
    ...checkTotals(spec, 'requests', path),
    ...checkTotals(spec, 'limits', path),
    ...checkContainerLimits(spec, path),
  ]
}

function checkName(name: string, path: FieldPath): FieldError[] {
  return isPodResource(name) ? [] : [notSupported(path, name, ['cpu', hugePages, 'memory'])]
}

/** Rejects containers whose total requests, or total limits for huge pages, exceed those of the pod. */
function checkTotals(spec: PodParts, list: 'requests' | 'limits', path: FieldPath): FieldError[] {
  const ofPod = spec.resources?.[list] ?? {}
  const counts = list === 'requests' ? isPodResource : isHugePages
  return [...containerTotals(spec, list)]
    .filter(([name, total]) => counts(name) && exceeds(total, own(ofPod, name)))
    .map(([name, total]) => {
      const text = `must be greater than or equal to aggregate container ${list} of ${formatQuantity(total)}`
      return invalid(at(child(path, list), name), ofPod[name], text)
    })
}

function exceeds(amount: Quantity, limit: unknown): boolean {
  return typeof limit === 'string' && compareQuantities(amount, quantityOf(limit)) > 0
}

function checkContainerLimits({ containers = [], resources }: PodParts, path: FieldPath): FieldError[] {
  const ofPod = resources?.limits ?? {}
  return containers.flatMap(({ resources: { limits = {} } = {} }, i) =>
    Object.keys(limits)
      .filter((name) => exceeds(quantityOf(limits[name]!), own(ofPod, name)))
      .map((name) =>
        invalid(
          child(at(at(child(path, 'containers'), i), name), 'limits'),
          limits[name],
          `must be less than or equal to pod limits of ${ofPod[name]}`,
        ),
      ),
  )
}

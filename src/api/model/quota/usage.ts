/**
 * Computes the quota usage of an object. Every object counts toward the number of objects of its type
 * (`count/deployments.apps`), and some types also have a plain name (`configmaps`). In addition, quotas count the
 * requests and limits of pods, the node ports and load balancers of services, the storage that volume claims request
 * (in total and per storage class), and the devices that resource claims request (per class).
 */
import type { ApiObject } from '../object.ts'
import type { Quantity } from '../quantity.ts'
import { groupName, isVendorKey, type Vendor, vendorKey } from '../vendor.ts'
import {
  type Amounts,
  add,
  addTo,
  one,
  raiseTo,
  readAmount,
  readAmounts,
  type WrittenAmounts,
  wholes,
} from './amounts.ts'
import { asPod, type CountedContainer, type CountedPod, podAmounts } from './counted-pod.ts'

/** A resource type, by API group ('' for the core group) and plural name. */
export interface CountedType {
  readonly group: string
  readonly plural: string
}

/** Additional inputs for computing usage: the vendor and the current time. */
export interface UsageContext {
  readonly vendor: Vendor
  /** The current wall-clock time in milliseconds. */
  readonly now: number
}

/** Resource types in the core group that have a plain name in quotas. */
const plainNames = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])

/** Returns how much of each quota resource an object uses. */
export function usageOf(type: CountedType, object: ApiObject, context: UsageContext): Amounts {
  const usage = new Map([[countName(type), one]])
  if (isResourceClaims(type, context.vendor)) return add(usage, deviceUsage(object, context))
  if (type.group !== '') return usage
  if (plainNames.has(type.plural)) return usage.set(type.plural, one)
  const more = ofType[type.plural]?.(object, context)
  return more === undefined ? usage : add(usage, more)
}

/** Returns the quota name of a resource type, such as `count/pods` or `count/deployments.apps`. */
function countName({ group, plural }: CountedType): string {
  return group === '' ? `count/${plural}` : `count/${plural}.${group}`
}

/** Whether a resource type is Pods. */
export function isPods({ group, plural }: CountedType): boolean {
  return group === '' && plural === 'pods'
}

/** Whether the resource type is PersistentVolumeClaims. */
export function isVolumeClaims({ group, plural }: CountedType): boolean {
  return group === '' && plural === 'persistentvolumeclaims'
}

function isResourceClaims({ group, plural }: CountedType, vendor: Vendor): boolean {
  return plural === 'resourceclaims' && group === groupName(vendor, 'resource')
}

/** Whether quotas count objects of the type. Events are not counted, because they expire on their own. */
export function isCounted({ group, plural }: CountedType, vendor: Vendor): boolean {
  return plural !== 'events' || (group !== '' && group !== groupName(vendor, 'events'))
}

/** Whether the usage differs between objects of this type, so that counting the objects is not enough. */
export function usageVaries(type: CountedType, vendor: Vendor): boolean {
  return (type.group === '' && Object.hasOwn(ofType, type.plural)) || isResourceClaims(type, vendor)
}

/** Returns the resource type that a quota counts under a name. Defaults to pods. */
export function typeCounted(name: string, vendor: Vendor): CountedType {
  if (name.startsWith('count/')) return typeNamed(name.slice('count/'.length))
  if (plainNames.has(name)) return { group: '', plural: name }
  if (name === 'services' || name.startsWith('services.')) return { group: '', plural: 'services' }
  const ofClaims = name === 'persistentvolumeclaims' || name === 'requests.storage'
  if (ofClaims || name.includes(`.storageclass.${groupName(vendor, 'storage')}/`))
    return { group: '', plural: 'persistentvolumeclaims' }
  if (name.endsWith(devicesOf('', vendor))) return { group: groupName(vendor, 'resource'), plural: 'resourceclaims' }
  return { group: '', plural: 'pods' }
}

/** Returns the quota name for the devices of a class. */
function devicesOf(deviceClass: string, vendor: Vendor): string {
  return `${deviceClass}.deviceclass.${groupName(vendor, 'resource')}/devices`
}

/** Parses the name of a resource type, such as `deployments.apps`. */
function typeNamed(text: string): CountedType {
  const dot = text.indexOf('.')
  return dot < 0 ? { group: '', plural: text } : { group: text.slice(dot + 1), plural: text.slice(0, dot) }
}

const ofType: { readonly [plural: string]: (object: ApiObject, context: UsageContext) => Amounts } = {
  pods: podUsage,
  services: serviceUsage,
  persistentvolumeclaims: claimUsage,
}

function podUsage(object: ApiObject, context: UsageContext): Amounts {
  const pod = asPod(object)
  if (isOver(pod, context.now)) return new Map()
  const requests = add(podAmounts(pod, 'requests'), readAmounts(pod.spec?.overhead))
  const limits = add(podAmounts(pod, 'limits'), readAmounts(pod.spec?.overhead))
  return new Map([['pods', one], ...computeUsage(requests, limits, context.vendor)])
}

/**
 * Whether a pod no longer uses resources: it has terminated, or its node should already have terminated it but has not
 * responded.
 */
function isOver({ status = {}, metadata }: CountedPod & ApiObject, now: number): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false
  return now > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000
}

/** Returns the names of the counted resources that a container requests or limits. */
export function namesStated({ resources = {} }: CountedContainer, vendor: Vendor): Set<string> {
  const usage = computeUsage(readAmounts(resources.requests), readAmounts(resources.limits), vendor)
  return new Set(usage.map(([name]) => name))
}

const computed = ['cpu', 'memory', 'ephemeral-storage']

function computeUsage(requests: Amounts, limits: Amounts, vendor: Vendor): [string, Quantity][] {
  const usage: [string, Quantity][] = []
  for (const [name, amount] of requests) {
    const isPlain = computed.includes(name) || name.startsWith('hugepages-')
    if (isPlain) usage.push([name, amount])
    if (isPlain || isAdvertised(name, vendor)) usage.push([`requests.${name}`, amount])
  }
  for (const [name, amount] of limits) if (computed.includes(name)) usage.push([`limits.${name}`, amount])
  return usage
}

/** Whether the resource is an extended resource, which nodes advertise. */
function isAdvertised(name: string, vendor: Vendor): boolean {
  return name.includes('/') && !isVendorKey(vendor, name) && !name.startsWith('requests.')
}

interface CountedService {
  readonly spec?: {
    readonly type?: string
    readonly ports?: readonly { readonly nodePort?: number }[]
    readonly allocateLoadBalancerNodePorts?: boolean
  }
}

function serviceUsage(object: ApiObject): Amounts {
  const { spec = {} } = object as CountedService & ApiObject
  const { ports = [], type, allocateLoadBalancerNodePorts: allocates = true } = spec
  const balanced = type === 'LoadBalancer'
  const countedPorts = balanced && !allocates ? ports.filter(({ nodePort }) => nodePort) : ports
  return new Map([
    ['services', one],
    ['services.nodeports', wholes(balanced || type === 'NodePort' ? countedPorts.length : 0)],
    ['services.loadbalancers', wholes(balanced ? 1 : 0)],
  ])
}

interface CountedClaim {
  readonly spec?: {
    readonly storageClassName?: string
    readonly resources?: { readonly requests?: WrittenAmounts }
  }
}

function claimUsage(object: ApiObject, { vendor }: UsageContext): Amounts {
  const { spec = {}, metadata } = object as CountedClaim & ApiObject
  const name = metadata.annotations?.[vendorKey(vendor, 'storage-class', 'volume.beta')] ?? spec.storageClassName
  const storage = readAmount(spec.resources?.requests, 'storage')
  const ofClass = name ? `${name}.storageclass.${groupName(vendor, 'storage')}/` : undefined
  const usage = new Map([['persistentvolumeclaims', one]])
  if (ofClass !== undefined) usage.set(`${ofClass}persistentvolumeclaims`, one)
  if (storage === undefined) return usage
  usage.set('requests.storage', storage)
  return ofClass === undefined ? usage : usage.set(`${ofClass}requests.storage`, storage)
}

interface CountedRequest {
  readonly deviceClassName?: string
  readonly allocationMode?: string
  readonly count?: number
}

interface CountedResourceClaim {
  readonly spec?: {
    readonly devices?: {
      readonly requests?: readonly {
        readonly exactly?: CountedRequest
        readonly firstAvailable?: readonly CountedRequest[]
      }[]
    }
  }
}

/** Maximum number of devices that can be allocated to a claim. */
const maxDevices = 32

/**
 * Returns how many devices of each class a claim requests. For a request with alternatives, the largest number counts.
 */
function deviceUsage(object: ApiObject, { vendor }: UsageContext): Amounts {
  const { spec: { devices = {} } = {} } = object as CountedResourceClaim & ApiObject
  const usage = new Map<string, Quantity>()
  for (const { exactly, firstAvailable = [] } of devices.requests ?? []) {
    const alternatives = new Map<string, Quantity>()
    for (const { deviceClassName = '', allocationMode, count = 1 } of exactly ? [exactly] : firstAvailable) {
      const amount = wholes(allocationMode === 'All' ? maxDevices : count)
      raiseTo(alternatives, new Map([[devicesOf(deviceClassName, vendor), amount]]))
    }
    addTo(usage, alternatives)
  }
  return usage
}

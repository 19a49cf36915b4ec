/**
 * The ResourceClaims of a Pod. Finds them, allocates devices to them on a node, and writes the allocations before the
 * Pod is bound.
 */
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import type { DeviceSelector } from '../../../api/kinds/resource/types/selector.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import { type NodeSelectorTerm, selectsNode } from '../../../api/selectors/node-selector.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { ResourceType } from '../../../client/requests/resource-type.ts'
import type { NodeInfo } from '../node-info.ts'
import type { Refusal } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'
import { allocate } from './allocator.ts'
import type { Allocation } from './device.ts'
import type { Inventory } from './inventory.ts'
import type { SearchBudget } from './search-budget.ts'

const plugin = 'DynamicResources'
/** Maximum number of consumers of a claim. */
const maxConsumers = 256

function refusal(reason: string): Refusal {
  return { plugin, reasons: [reason], isFinal: true }
}

/** Whether a Pod has ResourceClaims. */
export function usesDevices({ spec }: PodInfo): boolean {
  return (spec.resourceClaims ?? []).length > 0
}

/**
 * Returns the ResourceClaims of a Pod. If a claim prevents the Pod from running on any node, returns the reasons
 * instead.
 */
export function deviceClaimsOf(pod: PodInfo, inventory: Inventory): readonly ResourceClaim[] | Refusal {
  const claims: ResourceClaim[] = []
  const generated = new Map(pod.pod.status?.resourceClaimStatuses?.map((each) => [each.name, each]))
  for (const { name = '', resourceClaimName } of pod.spec.resourceClaims ?? []) {
    const status = generated.get(name)
    // If an entry of the Pod needs no claim, the controller records the entry without a claim name.
    if (resourceClaimName === undefined && status !== undefined && status.resourceClaimName === undefined) continue
    const claimName = resourceClaimName ?? status?.resourceClaimName
    if (claimName === undefined)
      return refusal(`waiting for dynamic resource controller to create the resourceclaim "${name}"`)
    const claim = inventory.claim(pod.namespace, claimName)
    const fault = claim === undefined ? `resourceclaim "${claimName}" not found` : faultOf(claim, pod, inventory)
    if (fault !== undefined) return refusal(fault)
    claims.push(claim!)
  }
  return claims
}

function faultOf(claim: ResourceClaim, pod: PodInfo, { classes }: Inventory): string | undefined {
  const { metadata, spec, status } = claim
  if (metadata.deletionTimestamp !== undefined) return `resourceclaim "${metadata.name}" is being deleted`
  const owner = metadata.ownerReferences?.find(({ controller, kind }) => controller === true && kind === 'Pod')
  if (owner !== undefined && owner.uid !== pod.uid)
    return `ResourceClaim ${pod.namespace}/${metadata.name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`
  const { reservedFor = [], allocation } = status ?? {}
  if (reservedFor.length >= maxConsumers && !reservedFor.some(({ uid }) => uid === pod.uid))
    return 'resourceclaim in use'
  if (allocation !== undefined) return undefined
  for (const { name, exactly, firstAvailable = [] } of spec?.devices?.requests ?? [])
    for (const { deviceClassName = '' } of exactly === undefined ? firstAvailable : [exactly])
      if (classes.get({ name: deviceClassName }) === undefined)
        return `request ${name}: device class ${deviceClassName} does not exist`
  return undefined
}

/**
 * Compiles the selectors of the claims that need an allocation. Returns the reasons if a selector cannot be compiled.
 */
export function* prepareSelectors(
  claims: readonly ResourceClaim[],
  { inventory, budget }: Omit<ChoicePlace, 'node'>,
): Sliced<Refusal | undefined> {
  const waiting = claims.filter((claim) => inventory.allocationOf(claim) === undefined)
  const faults = yield* budget.runInSteps(inventory.selectors.compile(selectorsOf(waiting, inventory)))
  if (faults === undefined) return tooExpensive
  return faults.length === 0 ? undefined : refusal(`unsupported device selector: ${faults.join(', ')}`)
}

function* selectorsOf(claims: readonly ResourceClaim[], { classes }: Inventory): Generator<DeviceSelector> {
  for (const { spec } of claims)
    for (const { exactly, firstAvailable = [] } of spec?.devices?.requests ?? [])
      for (const { deviceClassName = '', selectors = [] } of exactly === undefined ? firstAvailable : [exactly]) {
        yield* classes.get({ name: deviceClassName })?.spec?.selectors ?? []
        yield* selectors
      }
}

/** The claims of a Pod that are already allocated, and new allocations for the others. */
export interface DeviceChoice {
  readonly allocated: readonly ResourceClaim[]
  readonly allocations: ReadonlyMap<ResourceClaim, Allocation>
}

const notReachable = refusal('resourceclaim not available on the node')
const notEnough = { ...refusal('cannot allocate all claims'), isFinal: false }
const tooExpensive = refusal(
  'allocating devices takes too long: request fewer devices, or simplify the selectors and constraints of the claims',
)

/** The node whose devices are allocated, and the Pod's remaining search time. */
export interface ChoicePlace {
  readonly node: NodeInfo
  readonly inventory: Inventory
  readonly budget: SearchBudget
}

/** Allocates devices on a node to the Pod's claims. Returns the reasons if the node cannot satisfy them. */
export function chooseDevices(
  claims: readonly ResourceClaim[],
  { node, inventory, budget }: ChoicePlace,
): DeviceChoice | Refusal {
  const allocated: ResourceClaim[] = []
  const waiting: ResourceClaim[] = []
  for (const claim of claims) {
    const allocation = inventory.allocationOf(claim)
    const terms = allocation?.nodeSelector?.nodeSelectorTerms as readonly NodeSelectorTerm[] | undefined
    if (terms !== undefined && !selectsNode(terms, node)) return notReachable
    if (allocation === undefined) waiting.push(claim)
    else allocated.push(claim)
  }
  return (
    budget.run((ofNode) => {
      const allocations = allocate(waiting, { node, inventory, budget: ofNode })
      return allocations === undefined ? notEnough : { allocated, allocations }
    }) ?? tooExpensive
  )
}

export interface DeviceWriteParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly type: ResourceType<ResourceClaim>
  readonly signal: AbortSignal
}

/**
 * Writes the allocations and reserves the claims for the Pod. Records the time of the allocations unless the time is
 * undefined. Throws if another client has changed a claim in the meantime.
 */
export async function writeDevices(
  { client, vendor, type, signal }: DeviceWriteParts,
  { allocated, allocations }: DeviceChoice,
  { pod: { name, uid }, time }: { readonly pod: PodInfo; readonly time: string | undefined },
): Promise<void> {
  const consumer = { resource: 'pods', name, uid }
  const finalizer = `${groupName(vendor, 'resource')}/delete-protection`
  for (const claim of [...allocated, ...allocations.keys()]) {
    const { reservedFor = [] } = claim.status ?? {}
    if (reservedFor.some((each) => each.uid === uid)) continue
    const { finalizers = [] } = claim.metadata
    const isProtected = finalizers.includes(finalizer)
    const metadata = { ...claim.metadata, finalizers: [...finalizers, finalizer] }
    const current = isProtected ? claim : await client.update(type, { ...claim, metadata }, { signal })
    const added = allocations.get(claim)
    const allocationTimestamp = time === undefined ? {} : { allocationTimestamp: time }
    const status = {
      ...current.status,
      ...(added === undefined ? {} : { allocation: { ...added, ...allocationTimestamp } }),
      reservedFor: [...reservedFor, consumer],
    }
    await client.update(type, { ...current, status }, { subresource: 'status', signal })
  }
}

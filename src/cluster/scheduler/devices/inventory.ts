/**
 * The devices of the cluster: which devices each node can access, and which of them are allocated. Only the slices of a
 * pool's newest generation count.
 */
import type { DeviceClass } from '../../../api/kinds/resource/device-class.ts'
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import type { ResourceSlice } from '../../../api/kinds/resource/resource-slice.ts'
import { type NodeSelectorTerm, selectsNode } from '../../../api/selectors/node-selector.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'
import { objectKey } from '../../../client/requests/resource-type.ts'
import type { NodeInfo } from '../node-info.ts'

type SliceSpec = NonNullable<ResourceSlice['spec']>
export type Allocation = NonNullable<NonNullable<ResourceClaim['status']>['allocation']>

/** A device, with the ResourceSlice that advertises it. */
export interface Device {
  /** Driver, pool and name, which together identify the device. */
  readonly id: string
  readonly driver: string
  readonly pool: string
  readonly device: NonNullable<SliceSpec['devices']>[number]
  readonly slice: SliceSpec
}

export interface DeviceSources {
  readonly resourceClaims: Informer<ResourceClaim>
  readonly slices: Informer<ResourceSlice>
  readonly deviceClasses: Informer<DeviceClass>
}

const devicesOf = memoizeByObject((slice: ResourceSlice): readonly Device[] => {
  const { spec = {} } = slice
  const { driver = '', pool = {}, devices = [] } = spec
  return devices.map((device) => ({
    ...{ id: idOf({ driver, pool: pool.name, device: device.name }), driver, pool: pool.name ?? '' },
    ...{ device, slice: spec },
  }))
})

interface Named {
  readonly driver?: string | undefined
  readonly pool?: string | undefined
  readonly device?: string | undefined
}

function idOf({ driver = '', pool = '', device = '' }: Named): string {
  return `${driver}/${pool}/${device}`
}

/** Returns the IDs of the devices that an allocation occupies. Administrative access occupies none. */
function occupied(allocation: Allocation | undefined): string[] {
  return (allocation?.devices?.results ?? []).filter(({ adminAccess }) => adminAccess !== true).map(idOf)
}

interface Reservation {
  readonly allocation: Allocation
  /** IDs of the devices that this allocation occupies exclusively. */
  readonly devices: ReadonlySet<string>
}

/** Index key of slices whose devices are not limited to one node. */
const anyNode = ''

export class Inventory {
  readonly classes: Informer<DeviceClass>
  readonly #claims: Informer<ResourceClaim>
  readonly #slices: Index<ResourceSlice>
  readonly #pools: Index<ResourceSlice>
  readonly #allocated: Index<ResourceClaim>
  /** Allocations that the watch has not shown yet, by claim. */
  readonly #reserved = new Map<string, Reservation>()

  constructor({ resourceClaims, slices, deviceClasses }: DeviceSources) {
    this.classes = deviceClasses
    this.#claims = resourceClaims
    this.#slices = slices.index(({ spec }) => [spec?.nodeName || anyNode])
    this.#pools = slices.index(({ spec }) => [poolKey(spec)])
    this.#allocated = resourceClaims.index(({ status }) => occupied(status?.allocation))
    resourceClaims.onChange(({ key, object }) => {
      if (object === undefined || object.status?.allocation !== undefined) this.#reserved.delete(key)
    })
  }

  claim(namespace: string, name: string): ResourceClaim | undefined {
    return this.#claims.get({ namespace, name })
  }

  /** Returns the allocation of a claim, even if it is still being written. */
  allocationOf(claim: ResourceClaim): Allocation | undefined {
    return claim.status?.allocation ?? this.#reserved.get(objectKey(claim))?.allocation
  }

  /**
   * Reserves an allocation until the watch shows it. Returns a function that ends the reservation if the write fails.
   */
  reserve(claim: ResourceClaim, allocation: Allocation): () => void {
    const key = objectKey(claim)
    const reservation = { allocation, devices: new Set(occupied(allocation)) }
    this.#reserved.set(key, reservation)
    return () => {
      if (this.#reserved.get(key) === reservation) this.#reserved.delete(key)
    }
  }

  /** Returns the devices that are accessible from a node. */
  devicesAt(node: NodeInfo): Device[] {
    const slices = [...this.#slices.get(node.name), ...this.#slices.get(anyNode)].filter((each) => this.#isNewest(each))
    return slices.flatMap(devicesOf).filter((device) => isReachable(device, node))
  }

  isAllocated({ id }: Device): boolean {
    return this.#allocated.count(id) > 0 || this.#reserved.values().some(({ devices }) => devices.has(id))
  }

  #isNewest({ spec }: ResourceSlice): boolean {
    const generation = Number(spec?.pool?.generation ?? 0)
    return this.#pools.get(poolKey(spec)).every((other) => Number(other.spec?.pool?.generation ?? 0) <= generation)
  }
}

function poolKey({ driver = '', pool = {} }: SliceSpec = {}): string {
  return `${driver}/${pool.name}`
}

function isReachable({ device, slice }: Device, node: NodeInfo): boolean {
  const { nodeName, nodeSelector, allNodes } = slice.perDeviceNodeSelection ? device : slice
  if (nodeName) return nodeName === node.name
  if (allNodes) return true
  return selectsNode((nodeSelector?.nodeSelectorTerms ?? []) as readonly NodeSelectorTerm[], node)
}

/** Returns the selector for the nodes that can access all these devices, or undefined for all nodes. */
export function nodesOf(devices: readonly Device[], node: NodeInfo): Allocation['nodeSelector'] {
  const places = devices.map(({ device, slice }) => (slice.perDeviceNodeSelection ? device : slice))
  if (places.every(({ allNodes }) => allNodes)) return undefined
  const [place] = places
  if (places.length === 1 && !place!.nodeName) return place!.nodeSelector as Allocation['nodeSelector']
  return { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node.name] }] }] }
}

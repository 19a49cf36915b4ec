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
import { type Allocation, type Device, idOf, poolKey, type SliceSpec } from './device.ts'
import { DeviceSelectors } from './device-selectors.ts'

export interface DeviceSources {
  readonly resourceClaims: Informer<ResourceClaim>
  readonly slices: Informer<ResourceSlice>
  readonly deviceClasses: Informer<DeviceClass>
  /** Whether allocations record the time at which they were made. */
  readonly recordsTime: boolean
}

const devicesOf = memoizeByObject((slice: ResourceSlice): readonly Device[] => {
  const { spec = {} } = slice
  const { driver = '', pool = {}, devices = [] } = spec
  return devices.map((device) => ({
    ...{ id: idOf({ driver, pool: pool.name, device: device.name }), driver, pool: pool.name ?? '' },
    ...{ device, slice: spec },
  }))
})

type Result = NonNullable<NonNullable<Allocation['devices']>['results']>[number]

/** Returns the devices that an allocation uses. Devices with administrative access do not count as used. */
function usedBy(allocation: Allocation | undefined): Result[] {
  return (allocation?.devices?.results ?? []).filter(({ adminAccess }) => adminAccess !== true)
}

interface Reservation {
  readonly allocation: Allocation
  /** IDs of the devices that this allocation uses. */
  readonly devices: ReadonlySet<string>
}

type CounterSet = NonNullable<SliceSpec['sharedCounters']>[number]

/** The newest generation of a pool. */
export interface Pool {
  readonly sets: readonly CounterSet[]
  readonly devices: readonly Device[]
}

/** Index key of slices whose devices are not limited to one node. */
const anyNode = ''

export class Inventory {
  readonly selectors = new DeviceSelectors()
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
    this.#allocated = resourceClaims.index(({ status }) => usedBy(status?.allocation).map(idOf))
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
    const reservation = { allocation, devices: new Set(usedBy(allocation).map(idOf)) }
    this.#reserved.set(key, reservation)
    return () => {
      if (this.#reserved.get(key) === reservation) this.#reserved.delete(key)
    }
  }

  /** Returns the devices that are accessible from a node. */
  devicesAt(node: NodeInfo): Device[] {
    const slices = [...this.#slices.get(node.name), ...this.#slices.get(anyNode)]
    const newest = new Map<string, number>()
    const isNewest = ({ spec }: ResourceSlice) => {
      const key = poolKey(spec)
      const generation = newest.get(key) ?? this.#newestGeneration(key)
      newest.set(key, generation)
      return generationOf(spec) === generation
    }
    return slices
      .filter(isNewest)
      .flatMap(devicesOf)
      .filter((device) => isReachable(device, node))
  }

  isAllocated({ id }: Device): boolean {
    return this.#allocated.count(id) > 0 || this.#reserved.values().some(({ devices }) => devices.has(id))
  }

  /** Returns the existing allocations of a device. */
  allocationsOf({ id }: Device): Result[] {
    const stored = this.#allocated.get(id).map(({ status }) => status?.allocation)
    const reserved = this.#reserved.values().flatMap(({ allocation, devices }) => (devices.has(id) ? [allocation] : []))
    return [...stored, ...reserved].flatMap(usedBy).filter((result) => idOf(result) === id)
  }

  /** Returns the shared counters and the devices of a pool. */
  pool(key: string): Pool {
    const newest = this.#newestGeneration(key)
    const slices = this.#pools.get(key).filter(({ spec }) => generationOf(spec) === newest)
    return { sets: slices.flatMap(({ spec }) => spec?.sharedCounters ?? []), devices: slices.flatMap(devicesOf) }
  }

  #newestGeneration(pool: string): number {
    return this.#pools.get(pool).reduce((newest, { spec }) => Math.max(newest, generationOf(spec)), 0)
  }
}

function generationOf({ pool }: SliceSpec = {}): number {
  return Number(pool?.generation ?? 0)
}

function isReachable({ device, slice }: Device, node: NodeInfo): boolean {
  const { nodeName, nodeSelector, allNodes } = slice.perDeviceNodeSelection ? device : slice
  if (nodeName) return nodeName === node.name
  if (allNodes) return true
  return selectsNode((nodeSelector?.nodeSelectorTerms ?? []) as readonly NodeSelectorTerm[], node)
}

/** Returns the selector for the nodes that can access all these devices, or undefined if all nodes can access them. */
export function nodesOf(devices: readonly Device[], node: NodeInfo): Allocation['nodeSelector'] {
  const places = devices.map(({ device, slice }) => (slice.perDeviceNodeSelection ? device : slice))
  const isBound = devices.some(({ device }) => device.bindsToNode)
  if (!isBound && places.every(({ allNodes }) => allNodes)) return undefined
  const [place] = places
  if (!isBound && places.length === 1 && !place!.nodeName) return place!.nodeSelector as Allocation['nodeSelector']
  return { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node.name] }] }] }
}

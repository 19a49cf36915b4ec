/**
 * A node prepared for the scheduler: its properties, and sums over the Pods on the node. The sums are updated
 * incrementally, so that checking a node does not require iterating over its Pods.
 */
import type { Node } from '../../api/kinds/core/node.ts'
import type { HostPort, PodInfo } from './pod-info.ts'
import { type Amounts, amountsOf, nothing, podsAllowed, type ResourceList, Sum } from './resources.ts'

export type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

/** A node in the scheduler's model, with the sums over its Pods. */
export class NodeInfo {
  readonly name: string
  /** The Node object. Undefined if Pods are bound to a node that the scheduler has not observed yet. */
  node: Node | undefined
  labels: ReadonlyMap<string, string> = new Map()
  taints: readonly Taint[] = []
  isUnschedulable = false
  allocatable: Amounts = nothing
  podsAllowed = 0
  /** Image sizes in bytes. An image is listed under each of its names. */
  images: ReadonlyMap<string, number> = new Map()
  readonly pods = new Set<PodInfo>()
  readonly requested = new Sum()
  /** CPU and memory requests, as counted for scoring. */
  scoredCpu = 0
  scoredMemory = 0
  /** Number of Pods that use each host port, keyed by protocol and port, then by address. */
  readonly #ports = new Map<string, Map<string, number>>()

  constructor(name: string) {
    this.name = name
  }

  label(key: string): string | undefined {
    return this.labels.get(key)
  }

  setNode(node: Node): void {
    const { metadata, spec = {}, status = {} } = node
    this.node = node
    this.labels = new Map(Object.entries(metadata.labels ?? {}))
    this.taints = spec.taints ?? []
    this.isUnschedulable = spec.unschedulable ?? false
    const allocatable = (status.allocatable ?? status.capacity) as ResourceList
    this.allocatable = amountsOf(allocatable)
    this.podsAllowed = podsAllowed(allocatable)
    this.images = imagesOf(status)
  }

  add(pod: PodInfo): void {
    this.pods.add(pod)
    this.requested.add(pod.requests)
    this.scoredCpu += pod.scoredRequests.cpu
    this.scoredMemory += pod.scoredRequests.memory
    for (const port of pod.hostPorts) this.#count(port, 1)
  }

  remove(pod: PodInfo): void {
    if (!this.pods.delete(pod)) return
    this.requested.subtract(pod.requests)
    this.scoredCpu -= pod.scoredRequests.cpu
    this.scoredMemory -= pod.scoredRequests.memory
    for (const port of pod.hostPorts) this.#count(port, -1)
  }

  /** Whether a Pod on the node already uses the port. The wildcard address conflicts with every address. */
  isTaken({ protocol, port, address }: HostPort): boolean {
    const addresses = this.#ports.get(`${protocol} ${port}`)
    if (addresses === undefined) return false
    return address === '0.0.0.0' || addresses.has('0.0.0.0') || addresses.has(address)
  }

  #count({ protocol, port, address }: HostPort, by: 1 | -1): void {
    const key = `${protocol} ${port}`
    const addresses = this.#ports.get(key) ?? new Map<string, number>()
    const count = (addresses.get(address) ?? 0) + by
    if (count > 0) addresses.set(address, count)
    else addresses.delete(address)
    if (addresses.size > 0) this.#ports.set(key, addresses)
    else this.#ports.delete(key)
  }
}

function imagesOf({ images = [] }: NonNullable<Node['status']>): Map<string, number> {
  const sizes = new Map<string, number>()
  for (const { names = [], sizeBytes = 0 } of images)
    for (const name of names) sizes.set(imageName(name), Number(sizeBytes))
  return sizes
}

/** Returns an image name that includes a tag. Adds `latest` if there is none. */
export function imageName(name: string): string {
  return name.lastIndexOf(':') > name.lastIndexOf('/') ? name : `${name}:latest`
}

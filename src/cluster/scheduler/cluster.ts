/**
 * The scheduler's model of nodes and the Pods on them, updated with every change. As soon as the scheduler has chosen a
 * node, the Pod is assumed to be on that node, even before the API server and the watch confirm the binding. A slow
 * watch therefore causes neither duplicate decisions nor overcommitted nodes.
 *
 * A Pod that preempts other Pods is nominated for their node. The nominated Pod is not on the node yet, but Pods of
 * lower priority cannot use the freed resources.
 */

import { sameJson } from '../../api/json/json.ts'
import type { Node } from '../../api/kinds/core/node.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import { NodeInfo } from './node-info.ts'
import { PodGroups } from './pod-groups.ts'
import type { PodInfo } from './pod-info.ts'
import { isAnyLess } from './resources.ts'

/** Keys of the topology labels on nodes. */
export interface PlaceKeys {
  readonly hostname: string
  readonly zone: string
  readonly region: string
  /** Deprecated keys of the zone and region labels. */
  readonly betaZone: string
  readonly betaRegion: string
}

export function placeKeys(vendor: Vendor): PlaceKeys {
  return {
    hostname: vendorKey(vendor, 'hostname'),
    zone: vendorKey(vendor, 'zone', 'topology'),
    region: vendorKey(vendor, 'region', 'topology'),
    betaZone: vendorKey(vendor, 'zone', 'failure-domain.beta'),
    betaRegion: vendorKey(vendor, 'region', 'failure-domain.beta'),
  }
}

/** The scheduler's model of nodes and the Pods on them. */
export class Cluster {
  readonly keys: PlaceKeys
  readonly groups = new PodGroups()
  /** Looks up the labels of a namespace. */
  readonly namespaceLabels: (namespace: string) => Labels
  readonly #nodes = new Map<string, NodeInfo>()
  /** Pods that are bound to a node or assumed to be bound, by Pod key. */
  readonly #placed = new Map<string, { readonly pod: PodInfo; readonly node: NodeInfo }>()
  readonly #assumed = new Set<string>()
  /**
   * UIDs of Pods that the scheduler has asked the API server to delete. The watch may not have shown the deletions yet.
   */
  readonly #going = new Set<string>()
  readonly #nominated = new Map<string, Map<string, PodInfo>>()
  readonly #nominations = new Map<string, string>()
  readonly #imageNodes = new Map<string, number>()
  #list: readonly NodeInfo[] | undefined
  /** Cached values of node labels, by label key. */
  readonly #places = new Map<string, ReadonlySet<string>>()

  constructor(keys: PlaceKeys, namespaceLabels: (namespace: string) => Labels = () => undefined) {
    this.keys = keys
    this.namespaceLabels = namespaceLabels
  }

  /** All existing nodes, in an order that alternates between zones. */
  get nodes(): readonly NodeInfo[] {
    this.#list ??= inTurn(
      [...this.#nodes.values()].filter(({ node }) => node !== undefined),
      (node) => this.#zoneOf(node),
    )
    return this.#list
  }

  node(name: string): NodeInfo | undefined {
    const nodeInfo = this.#nodes.get(name)
    return nodeInfo?.node === undefined ? undefined : nodeInfo
  }

  setNode(name: string, node: Node): void {
    const info = this.#nodeOf(name)
    const before = info.node
    this.#countImages(info, -1)
    info.setNode(node)
    this.#countImages(info, 1)
    if (before === undefined || !sameJson(before.metadata.labels, node.metadata.labels)) this.#forgetPlaces()
  }

  /** Removes a node. Keeps its Pods in case the node is created again. */
  removeNode(name: string): void {
    const info = this.#nodes.get(name)
    if (info === undefined) return
    this.#countImages(info, -1)
    info.node = undefined
    info.images = new Map()
    this.#forgetPlaces()
    this.#dropIfEmpty(info)
  }

  /** Returns the values of a topology label on all nodes. */
  places(key: string): ReadonlySet<string> {
    const cachedPlaces = this.#places.get(key)
    if (cachedPlaces !== undefined) return cachedPlaces
    const values = new Set(this.nodes.flatMap((node) => node.label(key) ?? []))
    this.#places.set(key, values)
    return values
  }

  /** Returns how many nodes have this image. */
  nodesWithImage(name: string): number {
    return this.#imageNodes.get(name) ?? 0
  }

  /**
   * Records a Pod that is bound to a node. Returns true if the model already contained the Pod and any of its requests
   * has decreased.
   */
  setPod(pod: PodInfo): boolean {
    const before = this.#placed.get(pod.key)?.pod.requests
    const isGoing = this.#going.has(pod.uid)
    this.removePod(pod.key)
    this.#place(pod, this.#nodeOf(pod.nodeName))
    if (isGoing) this.markGoing(pod)
    return before !== undefined && isAnyLess(pod.requests, before)
  }

  /** Adds the Pod to a node before the API server has confirmed the binding. */
  assume(pod: PodInfo, node: NodeInfo): void {
    this.removePod(pod.key)
    this.#place(pod, node)
    this.#assumed.add(pod.key)
  }

  /**
   * Whether this Pod, identified by its UID, is on a node in the model but its binding has not been confirmed by the
   * API server.
   */
  isAssumed({ key, uid }: PodInfo): boolean {
    return this.#assumed.has(key) && this.#placed.get(key)?.pod.uid === uid
  }

  /** Removes the Pod from its node if it is only assumed. */
  forget(pod: PodInfo): void {
    if (this.isAssumed(pod)) this.removePod(pod.key)
  }

  /** Removes a Pod from its node. Returns false if the Pod was not on any node. */
  removePod(key: string): boolean {
    const placed = this.#placed.get(key)
    if (placed === undefined) return false
    this.#placed.delete(key)
    this.#assumed.delete(key)
    this.#going.delete(placed.pod.uid)
    placed.node.remove(placed.pod)
    this.groups.remove(placed.pod, placed.node)
    this.#dropIfEmpty(placed.node)
    return true
  }

  /** Records that the API server was asked to delete the Pod. */
  markGoing({ key, uid }: PodInfo): void {
    if (this.#placed.get(key)?.pod.uid === uid) this.#going.add(uid)
  }

  unmarkGoing({ uid }: PodInfo): void {
    this.#going.delete(uid)
  }

  isGoing({ uid, isTerminating }: PodInfo): boolean {
    return isTerminating || this.#going.has(uid)
  }

  /** Nominates the node for this Pod. An empty name clears the nomination. */
  nominate(pod: PodInfo, nodeName: string): void {
    this.withdrawNomination(pod.key)
    if (nodeName === '') return
    const pods = this.#nominated.get(nodeName) ?? new Map<string, PodInfo>()
    this.#nominated.set(nodeName, pods.set(pod.key, pod))
    this.#nominations.set(pod.key, nodeName)
  }

  withdrawNomination(key: string): void {
    const nodeName = this.#nominations.get(key)
    if (nodeName === undefined) return
    this.#nominations.delete(key)
    const pods = this.#nominated.get(nodeName)
    pods?.delete(key)
    if (pods?.size === 0) this.#nominated.delete(nodeName)
  }

  /** Returns the Pods that are nominated to run on a node. */
  nominatedAt(nodeName: string): Iterable<PodInfo> {
    return this.#nominated.get(nodeName)?.values() ?? []
  }

  /** Returns the name of the node for which a Pod is nominated, if any. */
  nominationOf(key: string): string | undefined {
    return this.#nominations.get(key)
  }

  get hasNominations(): boolean {
    return this.#nominations.size > 0
  }

  #place(pod: PodInfo, node: NodeInfo): void {
    this.#placed.set(pod.key, { pod, node })
    node.add(pod)
    this.groups.add(pod, node)
  }

  #nodeOf(name: string): NodeInfo {
    const info = this.#nodes.get(name) ?? new NodeInfo(name)
    this.#nodes.set(name, info)
    return info
  }

  #dropIfEmpty(info: NodeInfo): void {
    if (info.node === undefined && info.pods.size === 0) this.#nodes.delete(info.name)
  }

  /** Clears caches that depend on the set of nodes or their labels. */
  #forgetPlaces(): void {
    this.#list = undefined
    this.#places.clear()
    this.groups.forgetPlaces()
  }

  #zoneOf(node: NodeInfo): string {
    const { zone, region, betaZone, betaRegion } = this.keys
    const first = (...names: string[]) =>
      names.map((name) => node.label(name)).find((value) => value !== undefined) ?? ''
    return `${first(region, betaRegion)}\0${first(zone, betaZone)}`
  }

  #countImages({ images }: NodeInfo, by: 1 | -1): void {
    for (const name of images.keys()) {
      const count = this.nodesWithImage(name) + by
      if (count > 0) this.#imageNodes.set(name, count)
      else this.#imageNodes.delete(name)
    }
  }
}

/** Interleaves items of different types by taking one item of each type in turn. */
function inTurn<T>(all: readonly T[], sortOf: (one: T) => string): T[] {
  const sorts = [...Map.groupBy(all, sortOf).values()]
  if (sorts.length < 2) return [...all]
  const longest = Math.max(...sorts.map(({ length }) => length))
  return Array.from({ length: longest }, (_, i) => sorts.flatMap((sort) => sort[i] ?? [])).flat()
}

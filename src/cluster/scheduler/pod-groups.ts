/**
 * Groups the Pods on all nodes by the properties that matter to other Pods: namespace, labels and affinity terms. Each
 * group counts its Pods per node. Affinity and spread rules evaluate groups instead of individual Pods, because there
 * are only about as many groups as workloads.
 */

import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import { noTerms, type PodTerms, type SelectablePod, termsOf } from './pod-terms.ts'

/** Pods with the same namespace, labels and affinity terms. The rules of other Pods treat all Pods of a group alike. */
export class PodGroup implements SelectablePod {
  readonly namespace: string
  readonly labels: { readonly [key: string]: string }
  readonly terms: PodTerms
  /** Whether the Pods of the group are terminating. Spread rules do not count them. */
  readonly isTerminating: boolean
  readonly #nodes = new Map<NodeInfo, number>()
  /** Number of Pods per topology domain, cached by topology key. */
  readonly #places = new Map<string, Map<string, number>>()

  constructor({ namespace, labels, isTerminating, spec }: PodInfo) {
    const { affinity } = spec
    const cares = affinity?.podAffinity !== undefined || affinity?.podAntiAffinity !== undefined
    this.namespace = namespace
    this.labels = labels
    this.isTerminating = isTerminating
    this.terms = cares ? termsOf(affinity, namespace) : noTerms
  }

  /** Number of the group's Pods on each node. */
  get nodes(): ReadonlyMap<NodeInfo, number> {
    return this.#nodes
  }

  /** Returns the number of Pods in each topology domain of a key. */
  places(key: string): ReadonlyMap<string, number> {
    const cachedCounts = this.#places.get(key)
    if (cachedCounts !== undefined) return cachedCounts
    const counts = new Map<string, number>()
    for (const [node, count] of this.#nodes) raise(counts, node.label(key), count)
    // Do not cache topology keys that no node has: Pods can specify any number of such keys.
    if (counts.size > 0) this.#places.set(key, counts)
    return counts
  }

  change(node: NodeInfo, by: 1 | -1): void {
    raise(this.#nodes, node, by)
    for (const [key, counts] of this.#places) raise(counts, node.label(key), by)
  }

  /** Clears the cache. Must be called after node labels have changed. */
  forgetPlaces(): void {
    this.#places.clear()
  }
}

function raise<K>(counts: Map<K, number>, key: K | undefined, by: number): void {
  if (key === undefined) return
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

/** Number of groups to examine between yields. */
const groupsBetweenSteps = 256

/** All groups, indexed by label. */
export class PodGroups {
  readonly #groups = new Map<string, PodGroup>()
  /** Groups whose Pods have required anti-affinity. */
  readonly repelling = new Set<PodGroup>()
  /** Groups whose Pods have affinity or anti-affinity terms. */
  readonly caring = new Set<PodGroup>()
  readonly #byLabel = new Map<string, Set<PodGroup>>()
  /** Caches the group of each Pod, because computing the group key is expensive. */
  readonly #groupsByPod = new WeakMap<PodInfo, PodGroup>()

  /** Returns the group that this Pod would belong to, without counting the Pod. */
  describe(pod: PodInfo): PodGroup {
    const cachedGroup = this.#groupsByPod.get(pod)
    if (cachedGroup !== undefined) return cachedGroup
    const group = this.#groups.get(groupKey(pod)) ?? new PodGroup(pod)
    this.#groupsByPod.set(pod, group)
    return group
  }

  add(pod: PodInfo, node: NodeInfo): void {
    const key = groupKey(pod)
    const group = this.#groups.get(key) ?? this.describe(pod)
    this.#groupsByPod.set(pod, group)
    if (!this.#groups.has(key)) this.#open(key, group)
    group.change(node, 1)
  }

  remove(pod: PodInfo, node: NodeInfo): void {
    const key = groupKey(pod)
    const group = this.#groups.get(key)
    if (group === undefined) return
    group.change(node, -1)
    if (group.nodes.size === 0) this.#close(key, group)
  }

  /** Returns the groups of any namespace whose labels match the selector. */
  *matching(matcher: LabelMatcher): Sliced<readonly PodGroup[]> {
    const matchingGroups: PodGroup[] = []
    let tested = 0
    for (const group of this.#candidates(matcher)) {
      if (matcher.matches(group.labels)) matchingGroups.push(group)
      if (++tested % groupsBetweenSteps === 0) yield
    }
    return matchingGroups
  }

  /** Yields the groups that the label index finds, which include all matching groups. */
  *#candidates({ choice }: LabelMatcher): Generator<PodGroup> {
    if (choice === undefined) yield* this.#groups.values()
    else for (const value of choice.values) yield* this.#byLabel.get(`${choice.key}=${value}`) ?? []
  }

  /** Clears the caches. Must be called after node labels have changed. */
  forgetPlaces(): void {
    for (const group of this.#groups.values()) group.forgetPlaces()
  }

  #open(key: string, group: PodGroup): void {
    this.#groups.set(key, group)
    if (group.terms.antiAffinity.length > 0) this.repelling.add(group)
    if (group.terms !== noTerms) this.caring.add(group)
    for (const pair of pairsOf(group)) {
      const groups = this.#byLabel.get(pair) ?? new Set()
      this.#byLabel.set(pair, groups.add(group))
    }
  }

  #close(key: string, group: PodGroup): void {
    this.#groups.delete(key)
    this.repelling.delete(group)
    this.caring.delete(group)
    for (const pair of pairsOf(group)) {
      const groups = this.#byLabel.get(pair)
      groups?.delete(group)
      if (groups?.size === 0) this.#byLabel.delete(pair)
    }
  }
}

function pairsOf({ labels }: PodGroup): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`)
}

const keys = new WeakMap<PodInfo, string>()

function groupKey(pod: PodInfo): string {
  const cachedKey = keys.get(pod)
  if (cachedKey !== undefined) return cachedKey
  const { namespace, labels, isTerminating, spec } = pod
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
  const key = JSON.stringify([namespace, isTerminating, pairs, podAffinity ?? 0, podAntiAffinity ?? 0])
  keys.set(pod, key)
  return key
}

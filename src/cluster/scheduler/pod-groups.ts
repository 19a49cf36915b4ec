/**
 * The placed Pods by what others see of them: those of one namespace with the same labels and the same demands on other
 * Pods are one group, of which it is known how many are on which node. Affinity and spread look at groups, of which there
 * are about as many as workloads, and never at single Pods.
 */

import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import type { Steps } from '../../base/concurrency/time-slice.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import { noTerms, type PodTerms, type SelectablePod, termsOf } from './pod-terms.ts'

/** Pods that look alike to other Pods. */
export class PodGroup implements SelectablePod {
  readonly namespace: string
  readonly labels: { readonly [key: string]: string }
  readonly terms: PodTerms
  /** Whether its Pods are about to go: spread does not count them. */
  readonly isTerminating: boolean
  readonly #nodes = new Map<NodeInfo, number>()
  /** How many there are by the value of a label of nodes, for the labels that were asked for. */
  readonly #places = new Map<string, Map<string, number>>()

  constructor({ namespace, labels, isTerminating, spec }: PodInfo) {
    const { affinity } = spec
    const cares = affinity?.podAffinity !== undefined || affinity?.podAntiAffinity !== undefined
    this.namespace = namespace
    this.labels = labels
    this.isTerminating = isTerminating
    this.terms = cares ? termsOf(affinity, namespace) : noTerms
  }

  /** How many of them are on each node. */
  get nodes(): ReadonlyMap<NodeInfo, number> {
    return this.#nodes
  }

  /** How many of them are in each place, by the label of nodes that distinguishes places. */
  places(key: string): ReadonlyMap<string, number> {
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const counts = new Map<string, number>()
    for (const [node, count] of this.#nodes) raise(counts, node.label(key), count)
    // Pods may name any number of labels that no node has.
    if (counts.size > 0) this.#places.set(key, counts)
    return counts
  }

  change(node: NodeInfo, by: 1 | -1): void {
    raise(this.#nodes, node, by)
    for (const [key, counts] of this.#places) raise(counts, node.label(key), by)
  }

  /** Labels of nodes have changed. */
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

/** After how many groups others have their turn. */
const groupsBetweenSteps = 256

/** All groups, and which of them a selector may mean. */
export class PodGroups {
  readonly #groups = new Map<string, PodGroup>()
  /** The groups whose Pods keep others away. */
  readonly repelling = new Set<PodGroup>()
  /** The groups whose Pods say anything of others. */
  readonly caring = new Set<PodGroup>()
  readonly #byLabel = new Map<string, Set<PodGroup>>()
  /** The groups of Pods that were asked for; a Pod's group is found again without writing down its key. */
  readonly #known = new WeakMap<PodInfo, PodGroup>()

  /** What other Pods would see of this one. It is not counted. */
  describe(pod: PodInfo): PodGroup {
    const known = this.#known.get(pod)
    if (known !== undefined) return known
    const group = this.#groups.get(groupKey(pod)) ?? new PodGroup(pod)
    this.#known.set(pod, group)
    return group
  }

  add(pod: PodInfo, node: NodeInfo): void {
    const key = groupKey(pod)
    const group = this.#groups.get(key) ?? this.describe(pod)
    this.#known.set(pod, group)
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

  /** The groups whose labels the selector matches, in any namespace. */
  *matching(matcher: LabelMatcher): Steps<readonly PodGroup[]> {
    const found: PodGroup[] = []
    let tested = 0
    for (const group of this.#candidates(matcher)) {
      if (matcher.matches(group.labels)) found.push(group)
      if (++tested % groupsBetweenSteps === 0) yield
    }
    return found
  }

  /** All groups that the selector could match, in as few as its choice of values permits. */
  *#candidates({ choice }: LabelMatcher): Generator<PodGroup> {
    if (choice === undefined) yield* this.#groups.values()
    else for (const value of choice.values) yield* this.#byLabel.get(`${choice.key}=${value}`) ?? []
  }

  /** Labels of nodes have changed. */
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
  const known = keys.get(pod)
  if (known !== undefined) return known
  const { namespace, labels, isTerminating, spec } = pod
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
  const key = JSON.stringify([namespace, isTerminating, pairs, podAffinity ?? 0, podAntiAffinity ?? 0])
  keys.set(pod, key)
  return key
}

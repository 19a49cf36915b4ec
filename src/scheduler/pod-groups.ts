/**
 * The placed Pods by what others see of them: those of one namespace with the same labels and the same demands on other
 * Pods are one group, of which it is known how many are on which node. Affinity and spread look at groups, of which there
 * are about as many as workloads, and never at single Pods.
 */
import type { LabelMatcher } from '../model/label-selector.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import { noTerms, type PodTerms, type SelectablePod, termsOf } from './pod-terms.ts'

/** Pods that look alike to other Pods. */
export interface PodGroup extends SelectablePod {
  readonly labels: { readonly [key: string]: string }
  readonly terms: PodTerms
  /** Whether its Pods are about to go: spread does not count them. */
  readonly isTerminating: boolean
  /** How many of them are on each node. */
  readonly nodes: Map<NodeInfo, number>
}

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
    const group = this.#groups.get(groupKey(pod)) ?? newGroup(pod)
    this.#known.set(pod, group)
    return group
  }

  add(pod: PodInfo, node: NodeInfo): void {
    const key = groupKey(pod)
    const group = this.#groups.get(key) ?? this.describe(pod)
    this.#known.set(pod, group)
    if (!this.#groups.has(key)) this.#open(key, group)
    group.nodes.set(node, (group.nodes.get(node) ?? 0) + 1)
  }

  remove(pod: PodInfo, node: NodeInfo): void {
    const key = groupKey(pod)
    const group = this.#groups.get(key)
    if (group === undefined) return
    const left = (group.nodes.get(node) ?? 0) - 1
    if (left > 0) group.nodes.set(node, left)
    else group.nodes.delete(node)
    if (group.nodes.size === 0) this.#close(key, group)
  }

  /** The groups whose labels the selector matches, in any namespace. */
  *matching(matcher: LabelMatcher): Generator<PodGroup> {
    const { choice } = matcher
    if (choice === undefined) {
      for (const group of this.#groups.values()) if (matcher.matches(group.labels)) yield group
      return
    }
    for (const value of choice.values)
      for (const group of this.#byLabel.get(`${choice.key}=${value}`) ?? [])
        if (matcher.matches(group.labels)) yield group
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

function newGroup({ namespace, labels, isTerminating, spec }: PodInfo): PodGroup {
  const { affinity } = spec
  const cares = affinity?.podAffinity !== undefined || affinity?.podAntiAffinity !== undefined
  const terms = cares ? termsOf(affinity, namespace) : noTerms
  return { namespace, labels, isTerminating, terms, nodes: new Map() }
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

/**
 * Affinity between Pods. A Pod may require or prefer to share a topology domain with other Pods, or to be in a
 * different domain. Existing Pods may have such requirements with regard to the new Pod. A topology domain is the set
 * of nodes with the same value of a label, such as a host or a zone.
 */
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import type { NodeInfo } from '../node-info.ts'
import {
  happened,
  maxScore,
  type NodeCheck,
  type NodeScores,
  type Plugin,
  type Refusal,
  type Sight,
} from '../plugin.ts'
import type { PodGroup } from '../pod-groups.ts'
import type { PodInfo } from '../pod-info.ts'
import type { PodTerm } from '../pod-terms.ts'

const name = 'InterPodAffinity'
const refusal = (reason: string): Refusal => ({ plugin: name, reasons: [reason], isFinal: false })
const apart: Refusal = { ...refusal("node(s) didn't match pod affinity rules"), isFinal: true }
const tooNear = refusal("node(s) didn't match pod anti-affinity rules")
const repelled = refusal("node(s) didn't satisfy existing pods anti-affinity rules")

/** Creates the plugin. `hardWeight` is the score weight of existing Pods that require affinity to the new Pod. */
export function interPodAffinity({ hardWeight = 1 }: { readonly hardWeight?: number } = {}): Plugin {
  return {
    name,
    wokenBy: happened.podPlaced | happened.podGone | happened.nodeAdded | happened.nodeLabels,
    filter: prepareCheck,
    score: (pod, sight) => prepareScores(pod, sight, hardWeight),
  }
}

/** Counts Pods by topology domain. */
class PlaceCounts {
  readonly #byKey = new Map<string, Map<string, number>>()

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  add(key: string, value: string | undefined, by: number): void {
    if (value === undefined) return
    const counts = this.#byKey.get(key) ?? new Map<string, number>()
    const count = (counts.get(value) ?? 0) + by
    if (count === 0) counts.delete(value)
    else counts.set(value, count)
    if (counts.size === 0) this.#byKey.delete(key)
    else this.#byKey.set(key, counts)
  }

  at(key: string, node: NodeInfo): number {
    const value = node.label(key)
    return value === undefined ? 0 : (this.#byKey.get(key)?.get(value) ?? 0)
  }

  /** Whether the counts include a Pod in any topology domain of the node. */
  hasAny(node: NodeInfo): boolean {
    for (const key of this.#byKey.keys()) if (this.at(key, node) > 0) return true
    return false
  }

  sum(node: NodeInfo): number {
    let sum = 0
    for (const key of this.#byKey.keys()) sum += this.at(key, node)
    return sum
  }
}

function addAll(counts: PlaceCounts, key: string, group: PodGroup): void {
  for (const [value, count] of group.places(key)) counts.add(key, value, count)
}

/** Number of terms of existing Pods to process between yields. */
const termsBetweenSteps = 64

/** Evaluates required affinity and anti-affinity: the Pod's own terms, and the anti-affinity of existing Pods. */
class Required {
  readonly #self: PodGroup
  readonly #sight: Sight
  /** Existing Pods whose anti-affinity excludes this Pod, by topology domain. */
  readonly #repelling = new PlaceCounts()
  /** Existing Pods that match this Pod's required affinity, by topology domain. */
  readonly #matchCounts = new PlaceCounts()
  /** Existing Pods that match this Pod's required anti-affinity, by topology domain. */
  readonly #avoided = new PlaceCounts()

  constructor(self: PodGroup, sight: Sight) {
    this.#self = self
    this.#sight = sight
  }

  /** Counts existing Pods by topology domain. The count must be complete before nodes are checked. */
  *count(): Sliced<void> {
    const { groups, namespaceLabels } = this.#sight.cluster
    const { affinity, antiAffinity } = this.#self.terms
    let terms = 0
    for (const group of groups.repelling)
      for (const term of group.terms.antiAffinity) {
        if (term.matches(this.#self, namespaceLabels)) addAll(this.#repelling, term.topologyKey, group)
        if (++terms % termsBetweenSteps === 0) yield
      }
    for (const term of antiAffinity)
      for (const group of yield* matching(this.#sight, term)) {
        addAll(this.#avoided, term.topologyKey, group)
        yield
      }
    const [first] = affinity
    if (first === undefined) return
    for (const group of yield* matching(this.#sight, first)) {
      yield
      if (!this.#isWanted(group)) continue
      for (const { topologyKey } of affinity) {
        addAll(this.#matchCounts, topologyKey, group)
        yield
      }
    }
  }

  get isEmpty(): boolean {
    const { affinity, antiAffinity } = this.#self.terms
    return affinity.length + antiAffinity.length === 0 && this.#sight.cluster.groups.repelling.size === 0
  }

  check(node: NodeInfo): Refusal | undefined {
    if (!this.#isNearWanted(node)) return apart
    for (const { topologyKey } of this.#self.terms.antiAffinity)
      if (this.#avoided.at(topologyKey, node) > 0) return tooNear
    return this.#repelling.hasAny(node) ? repelled : undefined
  }

  change(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    const { groups, namespaceLabels } = this.#sight.cluster
    const group = groups.describe(pod)
    for (const term of group.terms.antiAffinity)
      if (term.matches(this.#self, namespaceLabels))
        this.#repelling.add(term.topologyKey, node.label(term.topologyKey), by)
    for (const term of this.#self.terms.antiAffinity)
      if (term.matches(group, namespaceLabels)) this.#avoided.add(term.topologyKey, node.label(term.topologyKey), by)
    if (this.#self.terms.affinity.length > 0 && this.#isWanted(group))
      for (const { topologyKey } of this.#self.terms.affinity)
        this.#matchCounts.add(topologyKey, node.label(topologyKey), by)
  }

  /**
   * Whether the node meets the required affinity. The first Pod of a group whose Pods require affinity to each other
   * finds no matching Pods, so it may run anywhere.
   */
  #isNearWanted(node: NodeInfo): boolean {
    const { affinity } = this.#self.terms
    if (affinity.length === 0) return true
    if (affinity.some(({ topologyKey }) => node.label(topologyKey) === undefined)) return false
    if (affinity.every(({ topologyKey }) => this.#matchCounts.at(topologyKey, node) > 0)) return true
    return this.#matchCounts.isEmpty && this.#isWanted(this.#self)
  }

  #isWanted(group: PodGroup): boolean {
    return this.#self.terms.affinity.every((term) => term.matches(group, this.#sight.cluster.namespaceLabels))
  }
}

function* prepareCheck(pod: PodInfo, sight: Sight): Sliced<NodeCheck | undefined> {
  const required = new Required(sight.cluster.groups.describe(pod), sight)
  if (required.isEmpty) return undefined
  yield* required.count()
  return {
    check: (node) => required.check(node),
    add: (other, node) => required.change(other, node, 1),
    remove: (other, node) => required.change(other, node, -1),
  }
}

function* matching({ cluster }: Sight, term: PodTerm): Sliced<readonly PodGroup[]> {
  if (term.matcher === undefined) return []
  const groups = yield* cluster.groups.matching(term.matcher)
  return groups.filter((group) => term.matches(group, cluster.namespaceLabels))
}

function* prepareScores(pod: PodInfo, sight: Sight, hardWeight: number): Sliced<NodeScores | undefined> {
  const { groups, namespaceLabels } = sight.cluster
  const self = groups.describe(pod)
  const points = new PlaceCounts()
  const award = (group: PodGroup, key: string, weight: number) => {
    for (const [value, count] of group.places(key)) points.add(key, value, count * weight)
  }
  for (const { term, weight } of self.terms.preferredAffinity)
    for (const group of yield* matching(sight, term)) {
      award(group, term.topologyKey, weight)
      yield
    }
  for (const { term, weight } of self.terms.preferredAntiAffinity)
    for (const group of yield* matching(sight, term)) {
      award(group, term.topologyKey, -weight)
      yield
    }
  let checkedCount = 0
  for (const group of groups.caring) {
    if (++checkedCount % termsBetweenSteps === 0) yield
    const { affinity, preferredAffinity, preferredAntiAffinity } = group.terms
    const mine = (term: PodTerm) => term.matches(self, namespaceLabels)
    if (hardWeight > 0) for (const term of affinity) if (mine(term)) award(group, term.topologyKey, hardWeight)
    for (const { term, weight } of preferredAffinity) if (mine(term)) award(group, term.topologyKey, weight)
    for (const { term, weight } of preferredAntiAffinity) if (mine(term)) award(group, term.topologyKey, -weight)
  }
  return points.isEmpty ? undefined : { score: (node) => points.sum(node), normalize: spreadOut }
}

/** Rescales the scores so that the lowest score is 0 and the highest is 100. */
function spreadOut(scores: number[]): void {
  const least = Math.min(...scores)
  const most = Math.max(...scores)
  for (let i = 0; i < scores.length; i++)
    scores[i] = most === least ? 0 : Math.floor((maxScore * (scores[i]! - least)) / (most - least))
}

/**
 * Spreads Pods evenly over topology domains such as zones. A Pod may require or prefer an even spread. Pods that belong
 * to Services or workloads and have no constraints of their own are spread over hosts and zones by default, if
 * possible.
 */

import { isTolerated } from '../../../api/model/tolerations.ts'
import type { LabelMatcher, SelectorObject } from '../../../api/selectors/label-selector.ts'
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
import { matcherOf } from '../pod-terms.ts'
import { keepsAway, nodeMatcher } from './node-rules.ts'

const name = 'PodTopologySpread'
const uneven: Refusal = {
  plugin: name,
  reasons: ["node(s) didn't match pod topology spread constraints"],
  isFinal: false,
}
const noLabel: Refusal = {
  plugin: name,
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
  isFinal: true,
}

/** A topology spread constraint, from a Pod or from the scheduler configuration. */
export interface SpreadConstraint {
  readonly maxSkew?: number
  readonly topologyKey?: string
  readonly whenUnsatisfiable?: string
  readonly labelSelector?: SelectorObject
  readonly minDomains?: number
  readonly nodeAffinityPolicy?: string
  readonly nodeTaintsPolicy?: string
  readonly matchLabelKeys?: readonly string[]
}

/**
 * The spread constraints for Pods that have none of their own: those in the configuration, or `usual` for the defaults
 * of kube-scheduler.
 */
export type DefaultConstraints = 'usual' | readonly SpreadConstraint[]

interface Constraint {
  readonly key: string
  readonly maxSkew: number
  /**
   * Minimum number of topology domains. If there are fewer domains, the minimum number of Pods per domain is assumed to
   * be 0.
   */
  readonly minDomains: number
  readonly matcher: LabelMatcher | undefined
  /**
   * Whether a node is included according to `nodeAffinityPolicy` and `nodeTaintsPolicy`. Undefined if all nodes are
   * included.
   */
  readonly includes: NodeMatcher
}

interface Constraints {
  readonly all: readonly Constraint[]
  /** Whether a node counts only if it has the labels of all constraints. */
  readonly needsAllLabels: boolean
}

export function podTopologySpread({ defaults = 'usual' }: { readonly defaults?: DefaultConstraints } = {}): Plugin {
  return {
    name,
    wokenBy: happened.podPlaced | happened.podGone | happened.nodeAdded | happened.nodeDeleted | happened.nodeLabels,
    *filter(pod, sight) {
      const { all } = yield* constraintsOf(pod, { sight, defaults, action: 'DoNotSchedule' })
      return all.length === 0 ? undefined : yield* prepareCheck(pod, all, sight)
    },
    *score(pod, sight, nodes) {
      const constraints = yield* constraintsOf(pod, { sight, defaults, action: 'ScheduleAnyway' })
      return constraints.all.length === 0 ? undefined : yield* prepareScores(pod, constraints, { sight, nodes })
    },
  }
}

interface Asked {
  readonly sight: Sight
  readonly defaults: DefaultConstraints
  readonly action: 'DoNotSchedule' | 'ScheduleAnyway'
}

function* constraintsOf(pod: PodInfo, { sight, defaults, action }: Asked): Sliced<Constraints> {
  const own = (pod.spec.topologySpreadConstraints ?? []) as readonly SpreadConstraint[]
  if (own.length > 0) return { all: yield* select(own, pod, action), needsAllLabels: true }
  const usual = defaults === 'usual' ? usualConstraints(sight) : defaults
  const relevantConstraints = usual.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
  const labelSelector = relevantConstraints.length === 0 ? undefined : sight.workloadSelector(pod)
  if (labelSelector === undefined) return { all: [], needsAllLabels: false }
  const all = yield* select(
    relevantConstraints.map((each) => ({ ...each, labelSelector })),
    pod,
    action,
  )
  return { all, needsAllLabels: defaults !== 'usual' }
}

function usualConstraints({ cluster: { keys } }: Sight): SpreadConstraint[] {
  return [
    { topologyKey: keys.hostname, maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
    { topologyKey: keys.zone, maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
  ]
}

function* select(constraints: readonly SpreadConstraint[], pod: PodInfo, action: string): Sliced<Constraint[]> {
  const selected: Constraint[] = []
  const inclusion = new NodeInclusion(pod)
  for (const constraint of constraints) {
    const { topologyKey: key = '', maxSkew = 1, minDomains = 1, whenUnsatisfiable } = constraint
    if (whenUnsatisfiable !== action) continue
    const matcher = matcherOf(withLabelKeys(constraint, pod))
    selected.push({ key, maxSkew, minDomains, matcher, includes: inclusion.matcherFor(constraint) })
    yield
  }
  return selected
}

/**
 * Returns the label selector of a constraint. For each key in `matchLabelKeys`, adds a requirement with the Pod's own
 * value.
 */
function withLabelKeys({ labelSelector, matchLabelKeys = [] }: SpreadConstraint, { labels }: PodInfo) {
  const keys = matchLabelKeys.filter((key) => Object.hasOwn(labels, key))
  if (labelSelector === undefined || keys.length === 0) return labelSelector
  const own = keys.map((key) => ({ key, operator: 'In', values: [labels[key]!] }))
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...own] }
}

/**
 * Evaluates the node inclusion policies of spread constraints for a Pod. Constraints with equal policies share one
 * matcher.
 */
class NodeInclusion {
  readonly #suits: ReturnType<typeof nodeMatcher>
  readonly #tolerates: (node: NodeInfo) => boolean
  readonly #both: (node: NodeInfo) => boolean

  constructor(pod: PodInfo) {
    const { tolerations = [] } = pod.spec
    this.#suits = nodeMatcher(pod)
    this.#tolerates = ({ taints }) => taints.every((taint) => !keepsAway(taint) || isTolerated(taint, tolerations))
    this.#both = (node) => this.#suits?.(node) !== false && this.#tolerates(node)
  }

  matcherFor({ nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' }: SpreadConstraint): NodeMatcher {
    const suits = nodeAffinityPolicy === 'Honor' ? this.#suits : undefined
    if (nodeTaintsPolicy !== 'Honor') return suits
    return suits === undefined ? this.#tolerates : this.#both
  }
}

type NodeMatcher = ((node: NodeInfo) => boolean) | undefined

/** Number of nodes to examine between yields. */
const nodesBetweenSteps = 64

/** Returns the nodes that the inclusion policies include and that have all topology labels. */
function* countedNodes(nodes: Iterable<NodeInfo>, keys: readonly string[], suits: NodeMatcher): Sliced<Set<NodeInfo>> {
  const counted = new Set<NodeInfo>()
  let checkedCount = 0
  for (const node of nodes) {
    if (suits?.(node) !== false && keys.every((key) => node.label(key) !== undefined)) counted.add(node)
    if (++checkedCount % nodesBetweenSteps === 0) yield
  }
  return counted
}

/** Number of matching Pods per topology domain. */
class ValueCounts {
  readonly #counts = new Map<string, number>()
  #least: number | undefined

  open(value: string): void {
    if (!this.#counts.has(value)) this.#counts.set(value, 0)
  }

  add(value: string, by: number): void {
    const before = this.#counts.get(value)
    if (before === undefined) return
    this.#counts.set(value, before + by)
    this.#least = undefined
  }

  at(value: string): number {
    return this.#counts.get(value) ?? 0
  }

  get size(): number {
    return this.#counts.size
  }

  get least(): number {
    if (this.#least === undefined) {
      let least = Number.POSITIVE_INFINITY
      for (const count of this.#counts.values()) if (count < least) least = count
      this.#least = least === Number.POSITIVE_INFINITY ? 0 : least
    }
    return this.#least
  }
}

interface Row extends Constraint {
  readonly counts: ValueCounts
  /** 1 if the constraint's selector matches the Pod itself, and otherwise 0. */
  readonly own: number
  /** Nodes whose Pods are counted. Undefined means all nodes with the topology label. */
  readonly counted: ReadonlySet<NodeInfo> | undefined
}

/** Caches the set of included nodes for each matcher. */
class IncludedNodes {
  readonly #keys: readonly string[]
  readonly #sight: Sight
  readonly #sets = new Map<NodeMatcher, Set<NodeInfo>>()

  constructor(keys: readonly string[], sight: Sight) {
    this.#keys = keys
    this.#sight = sight
  }

  *by(includes: NodeMatcher): Sliced<Set<NodeInfo>> {
    const nodes = this.#sets.get(includes) ?? (yield* countedNodes(this.#sight.cluster.nodes, this.#keys, includes))
    this.#sets.set(includes, nodes)
    return nodes
  }
}

function* prepareCheck(pod: PodInfo, constraints: readonly Constraint[], sight: Sight): Sliced<NodeCheck> {
  const keys = constraints.map(({ key }) => key)
  const included = new IncludedNodes(keys, sight)
  const rows: Row[] = []
  for (const constraint of constraints) {
    const own = constraint.matcher?.matches(pod.labels) === true ? 1 : 0
    // If every node with the label is included, the Pod groups already provide the counts per topology domain.
    const isSimple = constraint.includes === undefined && constraints.length === 1
    const counted = isSimple ? undefined : yield* included.by(constraint.includes)
    const row = { ...constraint, counts: new ValueCounts(), own, counted }
    if (counted === undefined) yield* countByPlace(pod, row, sight)
    else yield* countByNode(pod, row, { sight, counted })
    rows.push(row)
  }
  const change = (other: PodInfo, node: NodeInfo, by: 1 | -1) => {
    if (other.namespace !== pod.namespace || other.isTerminating) return
    for (const { key, counted, matcher, counts } of rows)
      if ((counted?.has(node) ?? node.label(key) !== undefined) && matcher?.matches(other.labels))
        counts.add(node.label(key)!, by)
  }
  return {
    check: (node) => {
      for (const { key, maxSkew, minDomains, counts: podCounts, own } of rows) {
        const value = node.label(key)
        if (value === undefined) return noLabel
        const least = podCounts.size < minDomains ? 0 : podCounts.least
        if (podCounts.at(value) + own - least > maxSkew) return uneven
      }
      return undefined
    },
    add: (other, node) => change(other, node, 1),
    remove: (other, node) => change(other, node, -1),
  }
}

function* countByPlace(pod: PodInfo, { key, matcher, counts }: Row, sight: Sight): Sliced<void> {
  for (const value of sight.cluster.places(key)) counts.open(value)
  for (const group of yield* alike(pod, matcher, sight)) {
    for (const [value, count] of group.places(key)) counts.add(value, count)
    yield
  }
}

function* countByNode(
  pod: PodInfo,
  { key, matcher, counts }: Row,
  { sight, counted }: { readonly sight: Sight; readonly counted: ReadonlySet<NodeInfo> },
): Sliced<void> {
  for (const node of counted) counts.open(node.label(key)!)
  for (const group of yield* alike(pod, matcher, sight)) {
    for (const [node, count] of group.nodes) if (counted.has(node)) counts.add(node.label(key)!, count)
    yield
  }
}

/** Returns the groups of running Pods that the constraint's selector matches in the Pod's namespace. */
function* alike(
  { namespace }: PodInfo,
  matcher: LabelMatcher | undefined,
  { cluster }: Sight,
): Sliced<readonly PodGroup[]> {
  if (matcher === undefined) return []
  const groups = yield* cluster.groups.matching(matcher)
  return groups.filter((group) => group.namespace === namespace && !group.isTerminating)
}

interface Candidates {
  readonly sight: Sight
  readonly nodes: readonly NodeInfo[]
}

/** The inputs for scoring nodes by one constraint. */
interface ScoreRow {
  readonly key: string
  readonly maxSkew: number
  readonly weight: number
  readonly count: (node: NodeInfo) => number
}

function* prepareScores(pod: PodInfo, constraints: Constraints, { sight, nodes }: Candidates): Sliced<NodeScores> {
  const { all, needsAllLabels } = constraints
  const keys = needsAllLabels ? all.map(({ key }) => key) : []
  const included = new IncludedNodes(keys, sight)
  const candidates = needsAllLabels ? yield* countedNodes(nodes, keys, undefined) : undefined
  const rows: ScoreRow[] = []
  for (const { key, maxSkew, matcher, includes } of all) {
    // If every node with the label is included, the Pod groups already provide the counts per topology domain.
    const isSimple = includes === undefined && (!needsAllLabels || all.length === 1)
    const counted = isSimple ? undefined : yield* included.by(includes)
    const groups = yield* alike(pod, matcher, sight)
    if (key === sight.cluster.keys.hostname) {
      const onNodes = yield* countOnNodes(groups)
      const count = (node: NodeInfo) => onNodes.get(node) ?? 0
      rows.push({ key, maxSkew, weight: Math.log((candidates?.size ?? nodes.length) + 2), count })
      continue
    }
    const counts = new ValueCounts()
    for (const node of candidates ?? nodes) if (node.label(key) !== undefined) counts.open(node.label(key)!)
    yield* addGroups(counts, groups, { key, counted })
    rows.push({ key, maxSkew, weight: Math.log(counts.size + 2), count: (node) => counts.at(node.label(key) ?? '') })
    yield
  }
  return new Spread(candidates, rows).scores()
}

function* countOnNodes(groups: readonly PodGroup[]): Sliced<Map<NodeInfo, number>> {
  const counts = new Map<NodeInfo, number>()
  for (const group of groups) {
    for (const [node, count] of group.nodes) counts.set(node, (counts.get(node) ?? 0) + count)
    yield
  }
  return counts
}

interface Selection {
  readonly key: string
  /** Nodes whose Pods are counted. Undefined means all nodes. */
  readonly counted: ReadonlySet<NodeInfo> | undefined
}

function* addGroups(counts: ValueCounts, groups: readonly PodGroup[], { key, counted }: Selection): Sliced<void> {
  for (const group of groups) {
    if (counted === undefined) for (const [value, count] of group.places(key)) counts.add(value, count)
    else for (const [node, count] of group.nodes) if (counted.has(node)) counts.add(node.label(key) ?? '', count)
    yield
  }
}

/**
 * Scores nodes. The fewer matching Pods a node's topology domain has, the higher the score. Topology keys with more
 * domains have a higher weight.
 */
class Spread {
  /** Nodes that have all topology labels. Undefined if nodes do not need the labels. */
  readonly #candidates: ReadonlySet<NodeInfo> | undefined
  readonly #rows: readonly ScoreRow[]

  constructor(candidates: ReadonlySet<NodeInfo> | undefined, rows: readonly ScoreRow[]) {
    this.#candidates = candidates
    this.#rows = rows
  }

  scores(): NodeScores {
    return {
      score: (node) => (this.#counts(node) ? this.#score(node) : 0),
      normalize: (scores, nodes) => this.#normalize(scores, nodes),
    }
  }

  #counts(node: NodeInfo): boolean {
    return this.#candidates?.has(node) ?? true
  }

  #score(node: NodeInfo): number {
    let score = 0
    for (const { key, maxSkew, weight, count } of this.#rows)
      if (node.label(key) !== undefined) score += count(node) * weight + (maxSkew - 1)
    return Math.round(score)
  }

  #normalize(scores: number[], nodes: readonly NodeInfo[]): void {
    const counted = scores.filter((_, i) => this.#counts(nodes[i]!))
    const least = Math.min(...counted)
    const most = Math.max(...counted)
    for (let i = 0; i < scores.length; i++) {
      if (!this.#counts(nodes[i]!)) scores[i] = 0
      else scores[i] = most === 0 ? maxScore : Math.floor((maxScore * (most + least - scores[i]!)) / most)
    }
  }
}

/**
 * Finds a node on which a Pod fits if other Pods are evicted. Chooses the node with the fewest and least important
 * victims, and respects disruption budgets where possible. The caller evicts the Pods. Yields between nodes.
 */

import type { PodDisruptionBudget } from '../../api/kinds/policy/pod-disruption-budget.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import { Checks, prepareChecks } from './checks.ts'
import type { Search } from './find-node.ts'
import type { NodeInfo } from './node-info.ts'
import type { Refusal } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import { matcherOf } from './pod-terms.ts'

/** A node and the Pods to evict from it, in order of importance, most important first. */
export interface Preemption {
  readonly node: NodeInfo
  readonly victims: readonly PodInfo[]
}

interface Candidate extends Preemption {
  /** Number of victims whose eviction violates a disruption budget. */
  readonly violations: number
}

/** A PodDisruptionBudget, and how many more disruptions it allows. */
interface Budget {
  readonly namespace: string
  readonly matcher: LabelMatcher
  readonly disrupted: { readonly [pod: string]: unknown }
  readonly allowed: number
}

/** The input of a preemption: a failed search for a node, and the disruption budgets to respect. */
export interface PreemptionParts extends Search {
  readonly refusals: ReadonlyMap<NodeInfo, Refusal>
  readonly budgets: Iterable<PodDisruptionBudget>
}

/** How many candidate nodes to compare before choosing one: 10% of the nodes, but at least 100. */
const minCandidates = 100
const candidatesShare = 0.1

/** Finds the Pods to evict. Returns undefined if evictions cannot make enough room. */
export function* findPreemption(parts: PreemptionParts): Sliced<Preemption | undefined> {
  const { pod, profile, sight, refusals, state } = parts
  const checks = yield* prepareChecks(pod, profile, sight)
  if (!(checks instanceof Checks)) return undefined
  const nodes = [...refusals].filter(([, { isFinal }]) => !isFinal).map(([node]) => node)
  const candidateLimit = Math.max(minCandidates, Math.floor(sight.cluster.nodes.length * candidatesShare))
  const offset = Math.floor(state.random() * nodes.length)
  const budgets = readBudgets(parts.budgets)
  const candidates: Candidate[] = []
  for (let i = 0; i < nodes.length && candidates.length < candidateLimit; i++) {
    const candidate = victimsOn(nodes[(offset + i) % nodes.length]!, { pod, checks, budgets })
    if (candidate !== undefined) candidates.push(candidate)
    yield
  }
  return candidates.length === 0 ? undefined : candidates.reduce((best, each) => (isBetter(each, best) ? each : best))
}

/** Whether the Pod may preempt other Pods. False while victims of an earlier preemption are still terminating. */
export function mayPreempt({ pod, sight, refusals, profile }: PreemptionParts): boolean {
  const { key, spec, priority } = pod
  if (!profile.preempts || spec.preemptionPolicy === 'Never') return false
  const node = sight.cluster.node(sight.cluster.nominationOf(key) ?? '')
  if (node === undefined || refusals.get(node)?.isFinal === true) return true
  for (const other of node.pods) if (sight.cluster.isGoing(other) && other.priority < priority) return false
  return true
}

interface Trial {
  readonly pod: PodInfo
  readonly checks: Checks
  readonly budgets: readonly Budget[]
}

/**
 * Finds the victims on a node: removes all Pods with lower priorities, then adds back as many as fit, most important
 * first.
 */
function victimsOn(node: NodeInfo, { pod, checks, budgets }: Trial): Candidate | undefined {
  const lesser = [...node.pods].filter(({ priority }) => priority < pod.priority)
  if (lesser.length === 0) return undefined
  for (const each of lesser) checks.remove(each, node)
  if (checks.refusal(node) !== undefined) {
    for (const each of lesser) checks.add(each, node)
    return undefined
  }
  const { violating, others } = byBudgets(lesser.sort(byImportance), budgets)
  const reprieve = (each: PodInfo) => {
    checks.add(each, node)
    if (checks.refusal(node) === undefined) return true
    checks.remove(each, node)
    return false
  }
  const violatingVictims = violating.filter((each) => !reprieve(each))
  const victims = [...violatingVictims, ...others.filter((each) => !reprieve(each))].sort(byImportance)
  for (const each of victims) checks.add(each, node)
  return { node, victims, violations: violatingVictims.length }
}

/** Compares Pods by priority, highest first, then by start time, earliest first. */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b)
}

function startOf({ pod: { status, metadata } }: PodInfo): number {
  const text = status?.startTime ?? metadata.creationTimestamp
  return text === undefined ? Number.POSITIVE_INFINITY : Date.parse(text)
}

function readBudgets(budgets: Iterable<PodDisruptionBudget>): Budget[] {
  return [...budgets].flatMap(({ metadata: { namespace = '' }, spec, status }) => {
    const matcher = matcherOf(spec?.selector)
    if (matcher === undefined) return []
    return [{ namespace, matcher, disrupted: status?.disruptedPods ?? {}, allowed: status?.disruptionsAllowed ?? 0 }]
  })
}

/**
 * Splits Pods into those whose eviction would violate a budget and those whose eviction would not, assuming that the
 * Pods are evicted in the given order.
 */
function byBudgets(
  pods: readonly PodInfo[],
  budgets: readonly Budget[],
): { violating: readonly PodInfo[]; others: readonly PodInfo[] } {
  const remainingDisruptions = budgets.map(({ allowed }) => allowed)
  const violating: PodInfo[] = []
  const others: PodInfo[] = []
  for (const pod of pods) {
    const isKept = budgets.reduce((exceedsBudget, { namespace, matcher, disrupted }, i) => {
      if (namespace !== pod.namespace || Object.keys(pod.labels).length === 0 || !matcher.matches(pod.labels))
        return exceedsBudget
      if (Object.hasOwn(disrupted, pod.name)) return exceedsBudget
      remainingDisruptions[i]!--
      return exceedsBudget || remainingDisruptions[i]! < 0
    }, false)
    ;(isKept ? violating : others).push(pod)
  }
  return { violating, others }
}

/**
 * Whether a candidate is better than another candidate. Compares the number of budget violations, the highest victim
 * priority, the sum of the priorities, the number of victims, and the start time of the most important victims, in this
 * order. Later start times are better.
 */
function isBetter(a: Candidate, b: Candidate): boolean {
  const differences = [
    b.violations - a.violations,
    highest(b) - highest(a),
    sum(b) - sum(a),
    b.victims.length - a.victims.length,
    earliest(a) - earliest(b),
  ]
  return (differences.find((difference) => difference !== 0 && !Number.isNaN(difference)) ?? 0) > 0
}

function highest({ victims }: Candidate): number {
  return victims[0]?.priority ?? Number.NEGATIVE_INFINITY
}

/**
 * Returns the sum of the victims' priorities. Adds an offset to each priority, because priorities may be negative and
 * an additional victim must always increase the sum.
 */
function sum({ victims }: Candidate): number {
  return victims.reduce((total, { priority }) => total + priority + 2 ** 31, 0)
}

/** Returns the earliest start time among the victims with the highest priority. */
function earliest(candidate: Candidate): number {
  const top = highest(candidate)
  return Math.min(...candidate.victims.filter(({ priority }) => priority === top).map(startOf))
}

/**
 * Makes room for a Pod that fits nowhere: finds the node on which the fewest and least important Pods would have to go,
 * without breaking disruption budgets if that can be. Decides only; whoever asks deletes the Pods. Yields between nodes.
 */

import type { PodDisruptionBudget } from '../../api/kinds/policy/pod-disruption-budget.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import type { Steps } from '../../base/concurrency/time-slice.ts'
import { Checks, prepareChecks } from './checks.ts'
import type { Search } from './find-node.ts'
import type { NodeInfo } from './node-info.ts'
import type { Refusal } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import { matcherOf } from './pod-terms.ts'

/** The Pods that have to go, the most important first, and from where. */
export interface Preemption {
  readonly node: NodeInfo
  readonly victims: readonly PodInfo[]
}

interface Candidate extends Preemption {
  /** How many of the victims a budget would keep. */
  readonly violations: number
}

/** A budget and how many more Pods may go by it. */
interface Budget {
  readonly namespace: string
  readonly matcher: LabelMatcher
  readonly disrupted: { readonly [pod: string]: unknown }
  readonly allowed: number
}

/** What a preemption is decided by, beside the search that found nothing. */
export interface PreemptionParts extends Search {
  readonly refusals: ReadonlyMap<NodeInfo, Refusal>
  readonly budgets: Iterable<PodDisruptionBudget>
}

/** At least so many candidates are compared, where there are so many. */
const leastCandidates = 100
const candidatesShare = 0.1

/** Undefined where no Pods can make room. */
export function* findPreemption(parts: PreemptionParts): Steps<Preemption | undefined> {
  const { pod, profile, sight, refusals, state } = parts
  const checks = yield* prepareChecks(pod, profile, sight)
  if (!(checks instanceof Checks)) return undefined
  const nodes = [...refusals].filter(([, { isFinal }]) => !isFinal).map(([node]) => node)
  const wanted = Math.max(leastCandidates, Math.floor(sight.cluster.nodes.length * candidatesShare))
  const offset = Math.floor(state.random() * nodes.length)
  const budgets = readBudgets(parts.budgets)
  const found: Candidate[] = []
  for (let i = 0; i < nodes.length && found.length < wanted; i++) {
    const candidate = victimsOn(nodes[(offset + i) % nodes.length]!, { pod, checks, budgets })
    if (candidate !== undefined) found.push(candidate)
    yield
  }
  return found.length === 0 ? undefined : found.reduce((best, each) => (isBetter(each, best) ? each : best))
}

/** Whether the Pod may push others out: not one whose room is being made already, as the victims are about to go. */
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

/** Takes all less important Pods off the node, then puts back those that fit, the most important first. */
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
  const kept = violating.filter((each) => !reprieve(each))
  const victims = [...kept, ...others.filter((each) => !reprieve(each))].sort(byImportance)
  for (const each of victims) checks.add(each, node)
  return { node, victims, violations: kept.length }
}

/** The more important first, of equally important ones that which has run for longer. */
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

/** Which Pods some budget would keep, if they went in this order. */
function byBudgets(
  pods: readonly PodInfo[],
  budgets: readonly Budget[],
): { violating: readonly PodInfo[]; others: readonly PodInfo[] } {
  const left = budgets.map(({ allowed }) => allowed)
  const violating: PodInfo[] = []
  const others: PodInfo[] = []
  for (const pod of pods) {
    const isKept = budgets.reduce((kept, { namespace, matcher, disrupted }, i) => {
      if (namespace !== pod.namespace || Object.keys(pod.labels).length === 0 || !matcher.matches(pod.labels))
        return kept
      if (Object.hasOwn(disrupted, pod.name)) return kept
      left[i]!--
      return kept || left[i]! < 0
    }, false)
    ;(isKept ? violating : others).push(pod)
  }
  return { violating, others }
}

/** Fewer broken budgets, then less important victims, then fewer, then those that have run for the shortest time. */
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

/** Priorities may be negative; more victims never count as less. */
function sum({ victims }: Candidate): number {
  return victims.reduce((total, { priority }) => total + priority + 2 ** 31, 0)
}

/** When the first of the most important victims was started. */
function earliest(candidate: Candidate): number {
  const top = highest(candidate)
  return Math.min(...candidate.victims.filter(({ priority }) => priority === top).map(startOf))
}

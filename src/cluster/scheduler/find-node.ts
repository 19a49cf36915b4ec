/**
 * Finds a node for a Pod: applies the filters until enough nodes are found, scores these nodes and chooses one of the
 * best. In a large cluster, a search does not examine every node. Each search continues where the previous search
 * ended, so that all nodes are used. The search regularly yields to other work.
 */
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import { Checks, prepareChecks } from './checks.ts'
import type { NodeInfo } from './node-info.ts'
import { prepared, type Refusal, type Sight } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import type { Profile } from './profile.ts'

/** State shared by a scheduler's searches, such as the node to start from. */
export interface SearchState {
  /**
   * A search stops when it has found this percentage of nodes to be suitable. With 0, the percentage depends on the
   * size of the cluster: the larger the cluster, the lower the percentage.
   */
  readonly percentageOfNodes: number
  /** Index of the node from which the next search starts. */
  start: number
  /** Returns a random number in the range [0, 1), for choosing among equally good nodes. */
  readonly random: () => number
}

/** The chosen node or, if the Pod fits on no node, the reasons for each examined node. */
export type Found = { readonly node: NodeInfo } | { readonly refusals: ReadonlyMap<NodeInfo, Refusal> }

/** A Pod that needs a node, and the profile and cluster model for the search. */
export interface Search {
  readonly pod: PodInfo
  readonly profile: Profile
  readonly sight: Sight
  readonly state: SearchState
}

export function* findNode(search: Search): Sliced<Found> {
  const { pod, profile, sight, state } = search
  const { cluster } = sight
  const checks = yield* prepareChecks(pod, profile, sight)
  if (!(checks instanceof Checks)) return { refusals: new Map(cluster.nodes.map((node) => [node, checks])) }
  const nominatedNode = cluster.node(cluster.nominationOf(pod.key) ?? '')
  if (nominatedNode !== undefined && checks.refusal(nominatedNode) === undefined) return { node: nominatedNode }
  const refusals = new Map<NodeInfo, Refusal>()
  const suitable = yield* suitableNodes(checks, search, refusals)
  if (suitable.length === 0) return { refusals }
  if (suitable.length === 1) return { node: suitable[0]! }
  const scores = yield* totalScores(search, suitable)
  return { node: bestOf(suitable, scores, state.random) }
}

const nodesBetweenSteps = 64

function* suitableNodes(
  checks: Checks,
  { sight, state }: Search,
  refusals: Map<NodeInfo, Refusal>,
): Sliced<readonly NodeInfo[]> {
  const { nodes } = sight.cluster
  const enough = nodesToFind(nodes.length, state.percentageOfNodes)
  const candidates: NodeInfo[] = []
  const start = state.start
  let checkedCount = 0
  for (; checkedCount < nodes.length && candidates.length < enough; checkedCount++) {
    const node = nodes[(start + checkedCount) % nodes.length]!
    const refused = checks.refusal(node)
    if (refused === undefined) candidates.push(node)
    else refusals.set(node, refused)
    if (checkedCount % nodesBetweenSteps === nodesBetweenSteps - 1) yield
  }
  state.start = nodes.length === 0 ? 0 : (start + checkedCount) % nodes.length
  return candidates
}

const minNodes = 100
const minPercentage = 5

/** Returns how many suitable nodes a search must find before it stops. */
export function nodesToFind(all: number, percentage: number): number {
  if (all < minNodes || percentage >= 100) return all
  const share = percentage > 0 ? percentage : Math.max(minPercentage, 50 - Math.floor(all / 125))
  return Math.max(minNodes, Math.floor((all * share) / 100))
}

/** Returns the weighted sum of all scores for each node. */
function* totalScores({ pod, profile, sight }: Search, nodes: readonly NodeInfo[]): Sliced<readonly number[]> {
  const totals = new Array<number>(nodes.length).fill(0)
  for (const { plugin, weight } of profile.scores) {
    const rule = yield* prepared(plugin.score!(pod, sight, nodes))
    if (rule === undefined) continue
    const scores: number[] = []
    for (const node of nodes) {
      scores.push(rule.score(node))
      if (scores.length % nodesBetweenSteps === 0) yield
    }
    rule.normalize?.(scores, nodes)
    for (let i = 0; i < scores.length; i++) totals[i]! += weight * scores[i]!
    yield
  }
  return totals
}

/** Chooses a random node among the nodes with the highest score. */
function bestOf(nodes: readonly NodeInfo[], scores: readonly number[], random: () => number): NodeInfo {
  let best = 0
  let equal = 1
  for (let i = 1; i < nodes.length; i++) {
    if (scores[i]! > scores[best]!) {
      best = i
      equal = 1
    } else if (scores[i] === scores[best]) {
      equal++
      if (random() * equal < 1) best = i
    }
  }
  return nodes[best]!
}

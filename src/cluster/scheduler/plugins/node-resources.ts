/**
 * Resource rules. A Pod's requests must fit on its node. The scores favor nodes with fewer requests, nodes with
 * balanced CPU and memory usage, and nodes that already have the Pod's images.
 */
import { imageName, type NodeInfo } from '../node-info.ts'
import { happened, maxScore, type Plugin, type Refusal } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'

const name = 'NodeResourcesFit'

/** A resource and its weight in the score. */
export interface WeightedResource {
  readonly name: string
  readonly weight: number
}

/** Whether to prefer nodes with the fewest or the most requests, and the resources to consider. */
export interface ScoringStrategy {
  readonly type: 'LeastAllocated' | 'MostAllocated'
  readonly resources: readonly WeightedResource[]
}

const defaultStrategy: ScoringStrategy = {
  type: 'LeastAllocated',
  resources: [
    { name: 'cpu', weight: 1 },
    { name: 'memory', weight: 1 },
  ],
}

/** Filters by free resources and scores by the fraction requested. */
export function nodeResourcesFit({ type, resources }: ScoringStrategy = defaultStrategy): Plugin {
  const weights = resources.reduce((sum, { weight }) => sum + weight, 0)
  const rate = type === 'LeastAllocated' ? leastAllocated : mostAllocated
  return {
    name,
    wokenBy: happened.nodeAdded | happened.nodeAllocatable | happened.podGone,
    filter: (pod) => ({ check: (node) => shortage(pod, node) }),
    score: (pod) => ({
      score: (node) => {
        let sum = 0
        for (const { name, weight } of resources) {
          const { total, requestedTotal } = usage(pod, node, name)
          sum += rate(requestedTotal, total) * weight
        }
        return weights === 0 ? 0 : Math.floor(sum / weights)
      },
    }),
  }
}

function leastAllocated(requestedTotal: number, total: number): number {
  return total === 0 || requestedTotal > total ? 0 : Math.floor(((total - requestedTotal) * maxScore) / total)
}

function mostAllocated(requestedTotal: number, total: number): number {
  return total === 0 ? 0 : Math.floor((Math.min(requestedTotal, total) * maxScore) / total)
}

/** Returns the total amount of a resource, and the requested amount including this Pod's request. */
function usage(pod: PodInfo, node: NodeInfo, resource: string): { total: number; requestedTotal: number } {
  const { allocatable, requested } = node
  switch (resource) {
    case 'cpu':
      return { total: allocatable.cpu, requestedTotal: node.scoredCpu + pod.scoredRequests.cpu }
    case 'memory':
      return { total: allocatable.memory, requestedTotal: node.scoredMemory + pod.scoredRequests.memory }
    case 'ephemeral-storage':
      return {
        total: allocatable.ephemeralStorage,
        requestedTotal: requested.ephemeralStorage + pod.requests.ephemeralStorage,
      }
    default:
      return {
        total: allocatable.others.get(resource) ?? 0,
        requestedTotal: requested.other(resource) + (pod.requests.others.get(resource) ?? 0),
      }
  }
}

/** Returns all insufficient resources, or undefined if the Pod fits. */
function shortage(pod: PodInfo, node: NodeInfo): Refusal | undefined {
  return fitsPlainly(pod, node) ? undefined : shortages(pod, node)
}

/** Whether a Pod that requests no extended resources fits on the node. This fast path covers most Pods and nodes. */
function fitsPlainly({ requests: { cpu, memory, ephemeralStorage, others } }: PodInfo, node: NodeInfo): boolean {
  const { allocatable, requested } = node
  return (
    node.pods.size < node.podsAllowed &&
    cpu <= allocatable.cpu - requested.cpu &&
    memory <= allocatable.memory - requested.memory &&
    ephemeralStorage <= allocatable.ephemeralStorage - requested.ephemeralStorage &&
    others.size === 0
  )
}

function shortages({ requests }: PodInfo, node: NodeInfo): Refusal | undefined {
  const { allocatable, requested } = node
  const reasons: string[] = []
  if (node.pods.size + 1 > node.podsAllowed) reasons.push('Too many pods')
  const { cpu, memory, ephemeralStorage, others } = requests
  if (cpu > 0 || memory > 0 || ephemeralStorage > 0 || others.size > 0) {
    if (cpu > allocatable.cpu - requested.cpu) reasons.push('Insufficient cpu')
    if (memory > allocatable.memory - requested.memory) reasons.push('Insufficient memory')
    if (ephemeralStorage > allocatable.ephemeralStorage - requested.ephemeralStorage)
      reasons.push('Insufficient ephemeral-storage')
    for (const [resource, amount] of others)
      if (amount > (allocatable.others.get(resource) ?? 0) - requested.other(resource))
        reasons.push(`Insufficient ${resource}`)
  }
  return reasons.length === 0 ? undefined : { plugin: name, reasons, isFinal: false }
}

/** Prefers nodes whose CPU and memory would be used to a similar degree. */
export const balancedAllocation: Plugin = {
  name: 'NodeResourcesBalancedAllocation',
  score: ({ requests }) => ({
    score: ({ allocatable, requested }) => {
      const cpu = part(requested.cpu + requests.cpu, allocatable.cpu)
      const memory = part(requested.memory + requests.memory, allocatable.memory)
      if (cpu === undefined || memory === undefined) return maxScore
      return Math.floor((1 - Math.abs(cpu - memory) / 2) * maxScore)
    },
  }),
}

function part(requestedTotal: number, total: number): number | undefined {
  return total === 0 ? undefined : Math.min(1, requestedTotal / total)
}

const smallestImage = 23 * 1024 * 1024
const largestImage = 1000 * 1024 * 1024

/** Prefers nodes that already have the images. Large images and images present on many nodes have more weight. */
export const imageLocality: Plugin = {
  name: 'ImageLocality',
  score: ({ spec: { containers = [] } }, { cluster }) => {
    const images = containers.flatMap(({ image }) => (image === undefined ? [] : [imageName(image)]))
    const shares = images.map((image) => cluster.nodesWithImage(image) / cluster.nodes.length)
    if (shares.every((share) => share === 0)) return undefined
    const largest = largestImage * containers.length
    return {
      score: ({ images: nodeImages }) => {
        const size = images.reduce((sum, image, i) => sum + Math.floor((nodeImages.get(image) ?? 0) * shares[i]!), 0)
        const bounded = Math.min(Math.max(size, smallestImage), largest)
        return Math.floor((maxScore * (bounded - smallestImage)) / (largest - smallestImage))
      },
    }
  },
}

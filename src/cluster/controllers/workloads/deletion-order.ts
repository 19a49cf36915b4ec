/**
 * Ranks pods for scale-down. Pods that have made the least progress come first, then pods with the lowest
 * `pod-deletion-cost`, then pods that share a node with the most pods of the same workload, and finally the youngest
 * pods. Ages are compared only by order of magnitude, so that pods of similar age rank equally and the remaining pods
 * have a mix of ages.
 */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { isReady, readySince } from './pod-state.ts'

/** The current time and the number of pods per node, which the ranking takes into account. */
export interface DeletionContext {
  readonly vendor: Vendor
  /** Current time, in milliseconds since 1970. */
  readonly now: number
  /** Returns the number of pods of the same workload that run on the pod's node. */
  readonly crowdOf: (pod: Pod) => number
}

interface Ranked {
  readonly pod: Pod
  readonly rank: Rank
}

const ranksBetweenSteps = 1000

/** Returns the first `count` pods to delete. Yields after every `ranksBetweenSteps` pods. */
export function* firstToDelete(pods: readonly Pod[], count: number, context: DeletionContext): Sliced<Pod[]> {
  let first: Ranked[] = []
  for (let from = 0; from < pods.length; from += ranksBetweenSteps) {
    const more = pods.slice(from, from + ranksBetweenSteps).map((pod) => ({ pod, rank: rankOf(pod, context) }))
    first = [...first, ...more].sort((a, b) => compare(a.rank, b.rank)).slice(0, count)
    yield
  }
  return first.map(({ pod }) => pod)
}

interface Rank {
  readonly assigned: boolean
  readonly phase: number
  readonly ready: boolean
  readonly cost: number
  readonly crowd: number
  readonly readyAge: number | undefined
  readonly restarts: number
  readonly age: number | undefined
  readonly uid: string
}

const phases: { readonly [phase: string]: number } = { Pending: 0, Unknown: 1, Running: 2 }

function rankOf(pod: Pod, { vendor, now, crowdOf }: DeletionContext): Rank {
  const { metadata, spec, status } = pod
  return {
    assigned: (spec?.nodeName ?? '') !== '',
    phase: phases[status?.phase ?? ''] ?? 0,
    ready: isReady(pod),
    cost: costOf(metadata.annotations?.[vendorKey(vendor, 'pod-deletion-cost', 'controller')]),
    crowd: crowdOf(pod),
    readyAge: magnitude(readySince(pod), now),
    restarts: Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount = 0 }) => restartCount)),
    age: magnitude(Date.parse(metadata.creationTimestamp ?? ''), now),
    uid: metadata.uid ?? '',
  }
}

function compare(a: Rank, b: Rank): number {
  return (
    Number(a.assigned) - Number(b.assigned) ||
    a.phase - b.phase ||
    Number(a.ready) - Number(b.ready) ||
    a.cost - b.cost ||
    b.crowd - a.crowd ||
    compareAges(a.readyAge, b.readyAge) ||
    b.restarts - a.restarts ||
    compareAges(a.age, b.age) ||
    (a.uid < b.uid ? -1 : Number(a.uid > b.uid))
  )
}

/** Compares two ages. A pod without an age counts as the youngest. */
function compareAges(a: number | undefined, b: number | undefined): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined)
  return a - b
}

/** Returns the order of magnitude of an age: the binary logarithm of its nanoseconds. */
function magnitude(since: number | undefined, now: number): number | undefined {
  if (since === undefined || Number.isNaN(since)) return undefined
  const nanoseconds = (now - since) * 1e6
  return nanoseconds > 0 ? Math.floor(Math.log2(nanoseconds)) : -1
}

/** Parses the deletion cost of a pod. A cost that is not a canonical 32-bit integer counts as 0. */
function costOf(text: string | undefined): number {
  if (text === undefined || !/^(?:0|-?[1-9]\d{0,9})$/.test(text)) return 0
  const cost = Number(text)
  return cost === (cost | 0) ? cost : 0
}

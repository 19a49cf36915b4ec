/**
 * Rolling update of a DaemonSet. Without maxSurge, pods of old templates are deleted within the limit of
 * maxUnavailable. With maxSurge, new pods are created first. Pods that are already unavailable are replaced
 * immediately.
 */
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { absoluteNumber } from '../percentages.ts'
import { isAvailable, isTerminating } from '../pod-state.ts'
import { mayGo } from './coverage.ts'
import type { DaemonStep } from './parts.ts'
import { isUpdated, type Moves } from './pod-writes.ts'

interface Limits {
  readonly maxSurge: number
  readonly maxUnavailable: number
}

/**
 * Returns the limits of an update. Percentages are relative to the number of nodes that should run a pod, and are
 * rounded up. If both limits are 0, one pod may be unavailable.
 */
export function limitsOf({ set, nodes }: DaemonStep): Limits {
  const desiredNodes = [...nodes.values()].filter(({ shouldRun }) => shouldRun).length
  const { maxSurge = 0, maxUnavailable = 1 } = set.spec?.updateStrategy?.rollingUpdate ?? {}
  const surge = absoluteNumber(maxSurge, desiredNodes, Math.ceil)
  const unavailable = absoluteNumber(maxUnavailable, desiredNodes, Math.ceil)
  return { maxSurge: surge, maxUnavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

export function rollingMoves(step: DaemonStep, { maxSurge, maxUnavailable }: Limits): Moves {
  return maxSurge === 0 ? replacingMoves(step, maxUnavailable) : surgingMoves(step, maxSurge)
}

/** The pods of a DaemonSet on one node: `fresh` from the current template, and `old` from earlier ones. */
interface OnNode {
  readonly node: string
  readonly fresh: readonly Pod[]
  readonly old: readonly Pod[]
}

/** Yields all nodes that run or should run a pod. */
function* nodesOf(step: DaemonStep): Generator<OnNode> {
  const lacking = [...step.nodes].filter(([node, { shouldRun }]) => shouldRun && !step.byNode.has(node))
  for (const [node] of lacking) yield { node, fresh: [], old: [] }
  for (const [node, pods] of step.byNode) {
    const present = pods.filter((pod) => !isTerminating(pod))
    const fresh = present.filter((pod) => isUpdated(step, pod))
    yield { node, fresh, old: present.filter((pod) => !fresh.includes(pod)) }
  }
}

function isWell({ set, state }: DaemonStep, pod: Pod): boolean {
  return isAvailable(pod, set.spec?.minReadySeconds ?? 0, state.clock.now())
}

/**
 * Returns the pods to replace. A node without exactly one pod counts as unavailable. `coverage.ts` handles such nodes.
 */
function replacingMoves(step: DaemonStep, maxUnavailable: number): Moves {
  const unwell: Pod[] = []
  const candidates: Pod[] = []
  let unavailable = 0
  for (const { fresh, old } of nodesOf(step)) {
    const [pod] = [...fresh, ...old]
    if (pod === undefined || fresh.length + old.length > 1) unavailable++
    else if (fresh.length === 1) unavailable += Number(!isWell(step, pod))
    else if (isWell(step, pod)) candidates.push(pod)
    else unwell.push(pod)
  }
  const may = Math.max(0, maxUnavailable - unavailable)
  return { lacking: [], surplus: [...unwell, ...candidates.slice(0, may)] }
}

function surgingMoves(step: DaemonStep, maxSurge: number): Moves {
  const surplus: Pod[] = []
  const unwell: string[] = []
  const candidates: string[] = []
  let surging = 0
  for (const { node, fresh, old } of nodesOf(step)) {
    const [newest] = fresh
    const [oldest] = old
    if (fresh.length > 1 || old.length > 1) surging++
    else if (oldest === undefined) continue
    else if (newest !== undefined) {
      if (!isWell(step, oldest) || mayGo(step, { newest, oldest })) surplus.push(oldest)
      else surging++
    } else if (step.nodes.get(node)?.shouldRun !== true) continue
    else if (isWell(step, oldest)) candidates.push(node)
    else unwell.push(node)
  }
  const may = Math.max(0, maxSurge - surging)
  return { surplus, lacking: [...unwell, ...candidates.slice(0, may)] }
}

/**
 * Keeps one pod on every eligible node: finds nodes without a pod, and surplus pods. Pods on ineligible nodes are
 * deleted, and failed pods are deleted after a backoff. If a node has several pods, the oldest is kept. With a surge,
 * the oldest pod of each template is kept.
 */
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { isAvailable, isReady, isTerminating } from '../pod-state.ts'
import type { DaemonStep } from './parts.ts'
import type { Fitness } from './placement.ts'
import { isUpdated, type Moves } from './pod-writes.ts'

/** Pods to create and delete, and when to check failed pods again. */
export interface CoverageMoves extends Moves {
  readonly againMs: number | undefined
}

/**
 * Returns the pods to create and to delete. `surge` determines whether a pod of an old template may run alongside a new
 * pod.
 */
export function coverageMoves(step: DaemonStep, { surge }: Pick<OnNode, 'surge'>): CoverageMoves {
  const lacking: string[] = []
  const surplus: Pod[] = []
  const pauses: number[] = []
  for (const [node, fitness] of step.nodes) {
    const pods = step.byNode.get(node)
    if (pods === undefined && fitness.shouldRun) lacking.push(node)
    if (pods !== undefined) surplus.push(...surplusOn(step, { node, fitness, pods, surge, pauses }))
  }
  // Unscheduled pods whose target node no longer exists would wait forever, so they are surplus.
  for (const [node, pods] of step.byNode)
    if (!step.nodes.has(node)) surplus.push(...pods.filter((pod) => !isTerminating(pod) && !pod.spec?.nodeName))
  return { lacking, surplus, againMs: pauses.length === 0 ? undefined : Math.min(...pauses) }
}

interface OnNode {
  readonly node: string
  readonly fitness: Fitness
  readonly pods: readonly Pod[]
  readonly surge: boolean
  /** Remaining backoff times of failed pods, collected during the step. */
  readonly pauses: number[]
}

function surplusOn(step: DaemonStep, { node, fitness, pods, surge, pauses }: OnNode): Pod[] {
  const present = pods.filter((pod) => !isTerminating(pod))
  if (!fitness.mayStay) return present
  const failed = present.filter(({ status }) => status?.phase === 'Failed')
  const running = present.filter(({ status }) => status?.phase !== 'Failed')
  const going = failed.filter((pod) => mayReplace(step, { node, pod, pauses }))
  return [...going, ...(surge ? surplusOfSurge(step, running) : running.slice(1))]
}

function mayReplace(
  { state, set }: DaemonStep,
  { node, pod, pauses }: Pick<OnNode, 'node' | 'pauses'> & { readonly pod: Pod },
): boolean {
  const pauseMs = state.failed.attempt(`${set.metadata.uid}/${set.metadata.generation}/${node}`)
  if (pauseMs > 0) pauses.push(pauseMs)
  else {
    const { namespace, name } = pod.metadata
    const message = `Found failed daemon pod ${namespace}/${name} on node ${node}, will try to kill it`
    state.recorder.record(set, { type: 'Warning', reason: 'FailedDaemonPod', message })
  }
  return pauseMs === 0
}

function surplusOfSurge(step: DaemonStep, running: readonly Pod[]): Pod[] {
  const [newest, ...moreNew] = running.filter((pod) => isUpdated(step, pod))
  const [oldest, ...moreOld] = running.filter((pod) => !isUpdated(step, pod))
  const isReplaced = newest !== undefined && oldest !== undefined && mayGo(step, { newest, oldest })
  return [...moreNew, ...moreOld, ...(isReplaced ? [oldest] : [])]
}

/**
 * Whether the old pod of a node may be deleted. It may be deleted if it is not ready or if the new pod is available.
 */
export function mayGo(
  { set, state }: DaemonStep,
  { newest, oldest }: { readonly newest: Pod; readonly oldest: Pod },
): boolean {
  return !isReady(oldest) || isAvailable(newest, set.spec?.minReadySeconds ?? 0, state.clock.now())
}

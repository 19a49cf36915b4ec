/**
 * The next moves of a StatefulSet, from ordinal to ordinal. Missing pods are made from the lowest on, surplus ones deleted
 * from the highest down, and then pods of old revisions replaced from the highest down to the partition. With OrderedReady
 * each move waits until all pods that come before are available; with Parallel creations and surplus do not wait.
 */
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { isAvailable, isReady, isTerminating } from '../pod-state.ts'
import { ordinalOf, revisionOf, withIdentity } from './identity.ts'
import type { SetStep } from './parts.ts'
import { createOrdinal, deleteOrdinal, updateOrdinal } from './pod-writes.ts'

/** How many pods there are, as the status says it. */
export interface Counts {
  replicas: number
  readyReplicas: number
  availableReplicas: number
  currentReplicas: number
  updatedReplicas: number
}

export function countPods(step: SetStep, pods: readonly Pod[]): Counts {
  const counts = { replicas: 0, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 }
  for (const pod of pods) {
    counts.readyReplicas += Number(runsReady(pod))
    counts.availableReplicas += Number(runsAvailable(step, pod))
    counts.replicas++
    if (!isTerminating(pod)) countRevision({ step, counts }, pod, 1)
  }
  return counts
}

/** Adds a pod to the counts of its revision, or takes it away. */
function countRevision({ step, counts }: Pick<Walk, 'step' | 'counts'>, pod: Pod, by: 1 | -1): void {
  if (revisionOf(pod) === step.current.metadata.name) counts.currentReplicas += by
  if (revisionOf(pod) === step.update.metadata.name) counts.updatedReplicas += by
}

function runsReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod)
}

function runsAvailable({ set, parts }: SetStep, pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isAvailable(pod, set.spec?.minReadySeconds ?? 0, parts.clock.now())
}

/** Makes the moves that are possible now, and counts them. */
export async function move(step: SetStep, pods: readonly Pod[], counts: Counts): Promise<void> {
  const { set } = step
  const { replicas: wanted = 1, podManagementPolicy, updateStrategy } = set.spec ?? {}
  const byOrdinal = new Map(pods.flatMap((pod) => [[ordinalOf(set, pod) ?? -1, pod] as const]))
  const inOrder = podManagementPolicy !== 'Parallel'
  const walk: Walk = { step, counts, inOrder, wanted, byOrdinal }
  if (!(await fill(walk))) return
  if (!(await shrink(walk))) return
  if (updateStrategy?.type !== 'OnDelete') await replaceOld(walk)
}

interface Walk {
  readonly step: SetStep
  readonly counts: Counts
  readonly inOrder: boolean
  /** How many ordinals there are to be. */
  readonly wanted: number
  readonly byOrdinal: Map<number, Pod>
}

/**
 * How many pods a step creates at most. They are created one after the other, and a step goes by the set as it was at its
 * beginning: without a bound one that was asked for a million pods could not be scaled down, nor ended by deleting the set.
 */
const maxCreated = 100

/** Whether every ordinal has a pod, and, in order, all of them are available: then other moves may follow. */
async function fill(walk: Walk): Promise<boolean> {
  const { step, counts, inOrder, wanted, byOrdinal } = walk
  let created = 0
  for (let ordinal = 0; ordinal < wanted; ordinal++) {
    const known = byOrdinal.get(ordinal)
    const pod = known !== undefined && known.status?.phase === 'Failed' ? await deleteFailed(walk, known) : known
    if (pod === undefined) {
      const made = await createOrdinal(step, ordinal)
      counts.replicas++
      countRevision(walk, made, 1)
      byOrdinal.set(ordinal, made)
      // The events of the new pods bring the set back.
      if (inOrder || ++created === maxCreated) return false
      continue
    }
    if (inOrder && (isTerminating(pod) || !runsAvailable(step, pod))) return false
    const mended = withIdentity(step, pod, ordinal)
    if (mended !== undefined) await updateOrdinal(step, mended, ordinal)
  }
  return true
}

/** A failed pod has to go before another one can have its name. Undefined: the name is free. */
async function deleteFailed(walk: Walk, pod: Pod): Promise<Pod | undefined> {
  const { step, counts } = walk
  const { set, parts } = step
  const { namespace, name } = set.metadata
  const message = `StatefulSet ${namespace}/${name} is recreating failed Pod ${pod.metadata.name}`
  if (isTerminating(pod)) return pod
  parts.recorder.record(set, { type: 'Warning', reason: 'RecreatingFailedPod', message })
  await deleteOrdinal(step, pod)
  counts.replicas--
  countRevision(walk, pod, -1)
  return undefined
}

/** Whether no pod is left beyond the last ordinal; in order, the highest goes first, one at a time. */
async function shrink(walk: Walk): Promise<boolean> {
  const { step, inOrder, wanted, byOrdinal } = walk
  const surplus = [...byOrdinal.keys()].filter((ordinal) => ordinal >= wanted).sort((a, b) => b - a)
  const firstUnhealthy = [...byOrdinal.keys()]
    .sort((a, b) => a - b)
    .find((ordinal) => ordinal >= 0 && !isHealthy(byOrdinal.get(ordinal)!))
  for (const ordinal of surplus) {
    const pod = byOrdinal.get(ordinal)!
    if (isTerminating(pod)) {
      if (inOrder) return false
      continue
    }
    // One that is not available holds up the others, unless it is the first of these.
    if (inOrder && !runsAvailable(step, pod) && ordinal !== firstUnhealthy) return false
    await deleteOrdinal(step, pod)
    countRevision(walk, pod, -1)
    if (inOrder) return false
  }
  return true
}

function isHealthy(pod: Pod): boolean {
  return runsReady(pod) && !isTerminating(pod)
}

/** Replaces one pod of an old revision, when those above it are well. */
async function replaceOld({ step, counts, wanted, byOrdinal }: Walk): Promise<void> {
  const { partition = 0 } = step.set.spec?.updateStrategy?.rollingUpdate ?? {}
  for (let ordinal = wanted - 1; ordinal >= partition; ordinal--) {
    const pod = byOrdinal.get(ordinal)!
    if (revisionOf(pod) !== step.update.metadata.name && !isTerminating(pod)) {
      await deleteOrdinal(step, pod)
      counts.currentReplicas--
      return
    }
    if (!isHealthy(pod)) return
  }
}

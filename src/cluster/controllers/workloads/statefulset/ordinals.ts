/**
 * Computes the next steps of a StatefulSet by ordinal. Missing pods are created in ascending order, starting at the
 * lowest ordinal. Surplus pods are deleted in descending order. Then pods of old revisions are replaced in descending
 * order, from the highest ordinal to the partition. With OrderedReady, each step waits until all preceding pods are
 * available. With Parallel, missing pods are created and surplus pods are deleted without waiting.
 */
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { absoluteNumber } from '../percentages.ts'
import { isAvailable, isReady, isTerminating } from '../pod-state.ts'
import { retainClaims } from './claim-retention.ts'
import { ordinalOf, ordinalRange, revisionOf, withIdentity } from './identity.ts'
import type { SetStep } from './parts.ts'
import { createOrdinal, deleteOrdinal, updateOrdinal } from './pod-writes.ts'

/** The pod counts in the status of a StatefulSet. */
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

/** Adds `by` to the counter for the pod's revision. */
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

/** Creates, deletes and replaces pods as far as possible in this reconcile, and updates the counts. */
export async function move(step: SetStep, pods: readonly Pod[], counts: Counts): Promise<void> {
  const { set } = step
  const { podManagementPolicy, updateStrategy } = set.spec ?? {}
  const byOrdinal = new Map(pods.flatMap((pod) => [[ordinalOf(set, pod) ?? -1, pod] as const]))
  const isOrdered = podManagementPolicy !== 'Parallel'
  const walk: Walk = { step, counts, isOrdered, ...ordinalRange(set), byOrdinal }
  if (!(await fill(walk))) return
  if (!(await shrink(walk))) return
  if (updateStrategy?.type !== 'OnDelete') await replaceOld(walk)
}

interface Walk {
  readonly step: SetStep
  readonly counts: Counts
  readonly isOrdered: boolean
  /** First desired ordinal. */
  readonly start: number
  /** Ordinal after the last desired ordinal. */
  readonly end: number
  readonly byOrdinal: Map<number, Pod>
}

/**
 * Maximum number of pods to create per step. A step creates pods one after another, based on the set's state at the
 * start of the step. Without a limit, a set with a million replicas could not be scaled down or deleted during the
 * step.
 */
const maxCreated = 100

/**
 * Creates missing pods. Returns true if the reconcile may continue, that is, if every ordinal has a pod and, with
 * OrderedReady, all pods are available.
 */
async function fill(walk: Walk): Promise<boolean> {
  const { step, counts, isOrdered, start, end, byOrdinal } = walk
  let created = 0
  for (let ordinal = start; ordinal < end; ordinal++) {
    const currentPod = byOrdinal.get(ordinal)
    const pod =
      currentPod !== undefined && currentPod.status?.phase === 'Failed'
        ? await deleteFailed(walk, currentPod)
        : currentPod
    if (pod === undefined) {
      const createdPod = await createOrdinal(step, ordinal)
      counts.replicas++
      countRevision(walk, createdPod, 1)
      byOrdinal.set(ordinal, createdPod)
      // Watch events for the new pods trigger another reconcile of the StatefulSet.
      if (isOrdered || ++created === maxCreated) return false
      continue
    }
    if (isOrdered && (isTerminating(pod) || !runsAvailable(step, pod))) return false
    const mended = withIdentity(step, pod, ordinal)
    if (mended !== undefined) await updateOrdinal(step, mended, ordinal)
    await retainClaims(step, { pod, ordinal, isSurplus: false })
  }
  return true
}

/** Deletes a failed pod so that a new pod can use its name. Returns undefined if the name is free. */
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

/**
 * Deletes pods outside the desired ordinals. With OrderedReady, deletes one pod at a time, starting with the highest
 * ordinal. Returns true if no such pod is left.
 */
async function shrink(walk: Walk): Promise<boolean> {
  const { step, isOrdered, start, end, byOrdinal } = walk
  const surplus = [...byOrdinal.keys()].filter((ordinal) => ordinal < start || ordinal >= end).sort((a, b) => b - a)
  const firstUnhealthy = [...byOrdinal.keys()]
    .sort((a, b) => a - b)
    .find((ordinal) => ordinal >= 0 && !isHealthy(byOrdinal.get(ordinal)!))
  for (const ordinal of surplus) {
    const pod = byOrdinal.get(ordinal)!
    if (isTerminating(pod)) {
      if (isOrdered) return false
      continue
    }
    // An unavailable pod blocks the deletion of other pods, unless it is the first unhealthy pod.
    if (isOrdered && !runsAvailable(step, pod) && ordinal !== firstUnhealthy) return false
    await retainClaims(step, { pod, ordinal, isSurplus: true })
    await deleteOrdinal(step, pod)
    countRevision(walk, pod, -1)
    if (isOrdered) return false
  }
  return true
}

function isHealthy(pod: Pod): boolean {
  return runsReady(pod) && !isTerminating(pod)
}

/**
 * Replaces pods of an old revision, from the highest ordinal down to the partition. Without `maxUnavailable`, replaces
 * one pod at a time, and only if all pods above it are healthy. Otherwise, replaces as many pods as may be unavailable.
 */
async function replaceOld(walk: Walk): Promise<void> {
  const { step, counts, start, end, byOrdinal } = walk
  const { partition = 0, maxUnavailable } = step.set.spec?.updateStrategy?.rollingUpdate ?? {}
  let remaining = maxUnavailable === undefined ? 1 : replaceable(walk, maxUnavailable)
  for (let ordinal = end - 1; ordinal >= start + partition && remaining > 0; ordinal--) {
    const pod = byOrdinal.get(ordinal)!
    if (revisionOf(pod) !== step.update.metadata.name && !isTerminating(pod)) {
      await deleteOrdinal(step, pod)
      counts.currentReplicas--
      remaining--
    } else if (maxUnavailable === undefined && !isHealthy(pod)) return
  }
}

/** Returns how many more pods may become unavailable. The limit is at least one pod. */
function replaceable({ step, start, end, byOrdinal }: Walk, maxUnavailable: number | string): number {
  const limit = Math.max(1, absoluteNumber(maxUnavailable, end - start, Math.floor))
  let unavailable = 0
  for (let ordinal = start; ordinal < end; ordinal++) {
    const pod = byOrdinal.get(ordinal)!
    if (isTerminating(pod) || !runsAvailable(step, pod)) unavailable++
  }
  return limit - unavailable
}

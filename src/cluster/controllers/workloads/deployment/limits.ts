/** Limits of a rollout (surge and unavailable pods), and pod counts of ReplicaSets. */
import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import { absoluteNumber } from '../percentages.ts'

export const replicasOf = ({ spec }: ReplicaSet): number => spec?.replicas ?? 1

/** Returns the total number of desired replicas. */
export function wantedIn(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0)
}

/** Returns the total number of pods that exist according to the ReplicaSets' status. */
export function presentIn(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status?.replicas ?? 0), 0)
}

export function availableIn(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0)
}

/**
 * Returns the total number of pods. For each ReplicaSet, counts its existing or its desired pods, whichever number is
 * greater. After a scale-down, the surplus pods exist until the replicaset loop deletes them.
 */
function heldBy(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + Math.max(replicasOf(set), set.status?.replicas ?? 0), 0)
}

/** Returns how many available pods of a ReplicaSet will remain. After a scale-down, this is at most the new size. */
export function stayAvailable(set: ReplicaSet): number {
  return Math.min(replicasOf(set), set.status?.availableReplicas ?? 0)
}

export function isRolling({ spec }: Deployment): boolean {
  return spec?.strategy?.type !== 'Recreate'
}

/** Returns the number of pods that a rolling update may create in addition to the desired replicas. */
export function maxSurge(deployment: Deployment): number {
  return isRolling(deployment) ? fenceposts(deployment).surge : 0
}

/** Returns the number of replicas that may be unavailable. */
export function maxUnavailable(deployment: Deployment): number {
  const { replicas = 1 } = deployment.spec ?? {}
  return isRolling(deployment) && replicas > 0 ? Math.min(replicas, fenceposts(deployment).unavailable) : 0
}

/**
 * Converts percentages to numbers of replicas. The surge is rounded up, and the number of unavailable pods is rounded
 * down. If both are 0, one pod may be unavailable.
 */
function fenceposts({ spec = {} }: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { replicas = 1, strategy } = spec
  const { maxSurge = 0, maxUnavailable = 0 } = strategy?.rollingUpdate ?? {}
  const surge = absoluteNumber(maxSurge, replicas, Math.ceil)
  const unavailable = absoluteNumber(maxUnavailable, replicas, Math.floor)
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

/**
 * Whether a ReplicaSet's status has been recounted since its size last changed. Until then, the ReplicaSet may have
 * more pods than both its new size and its status indicate, because pods may have been created just before the
 * scale-down.
 */
function isCounted({ metadata, status }: ReplicaSet): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}

/**
 * The ReplicaSets of a Deployment: `present` is the ReplicaSet with the current template, and `old` contains those with
 * earlier templates.
 */
interface CountedSets {
  readonly present: ReplicaSet | undefined
  readonly old: readonly ReplicaSet[]
}

/**
 * Returns the number of replicas that the new ReplicaSet may have now. The number does not grow while the pod counts of
 * an old ReplicaSet are outdated.
 */
export function newSize(deployment: Deployment, { present, old }: CountedSets): number {
  const { replicas = 1 } = deployment.spec ?? {}
  if (!isRolling(deployment)) return replicas
  const size = present === undefined ? 0 : replicasOf(present)
  if (!old.every(isCounted)) return size
  const room = replicas + maxSurge(deployment) - heldBy(present === undefined ? old : [...old, present])
  return room <= 0 ? size : size + Math.min(room, replicas - size)
}

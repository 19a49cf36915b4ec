/** How many pods a Deployment may have too many or too few while it is rolled out, and how many ReplicaSets have. */
import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import { absoluteNumber } from '../percentages.ts'

export const replicasOf = ({ spec }: ReplicaSet): number => spec?.replicas ?? 1

/** How many pods the ReplicaSets are to have. */
export function wantedIn(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0)
}

/** How many pods they have. */
export function presentIn(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status?.replicas ?? 0), 0)
}

export function availableIn(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0)
}

/**
 * How many pods they have or are to have, whichever is more: one that was made smaller has its pods until its own loop
 * has deleted them.
 */
function heldBy(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + Math.max(replicasOf(set), set.status?.replicas ?? 0), 0)
}

/** How many available pods stay as things are: of one that was made smaller, no more than its size. */
export function stayAvailable(set: ReplicaSet): number {
  return Math.min(replicasOf(set), set.status?.availableReplicas ?? 0)
}

export function isRolling({ spec }: Deployment): boolean {
  return spec?.strategy?.type !== 'Recreate'
}

/** How many pods there may be beyond the replicas. */
export function maxSurge(deployment: Deployment): number {
  return isRolling(deployment) ? fenceposts(deployment).surge : 0
}

/** How many of the replicas may be missing. */
export function maxUnavailable(deployment: Deployment): number {
  const { replicas = 1 } = deployment.spec ?? {}
  return isRolling(deployment) && replicas > 0 ? Math.min(replicas, fenceposts(deployment).unavailable) : 0
}

/** Percentages of the replicas: surge is rounded up, unavailable down; where both are none, one may be missing. */
function fenceposts({ spec = {} }: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { replicas = 1, strategy } = spec
  const { maxSurge = 0, maxUnavailable = 0 } = strategy?.rollingUpdate ?? {}
  const surge = absoluteNumber(maxSurge, replicas, Math.ceil)
  const unavailable = absoluteNumber(maxUnavailable, replicas, Math.floor)
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

/** The size that the new ReplicaSet may have now, among all. */
export function newSize(deployment: Deployment, all: readonly ReplicaSet[], size: number): number {
  const { replicas = 1 } = deployment.spec ?? {}
  if (!isRolling(deployment)) return replicas
  const room = replicas + maxSurge(deployment) - heldBy(all)
  return room <= 0 ? size : size + Math.min(room, replicas - size)
}

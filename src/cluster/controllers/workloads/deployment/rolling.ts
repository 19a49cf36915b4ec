/**
 * The RollingUpdate strategy. The new ReplicaSet is scaled up within maxSurge. Then old ReplicaSets are scaled down
 * within maxUnavailable, starting with unavailable pods. Each step performs one of these two actions, and the resulting
 * change to a ReplicaSet triggers the next step.
 */
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import { cleanUp } from './cleanup.ts'
import { maxUnavailable, newSize, replicasOf, stayAvailable, wantedIn } from './limits.ts'
import type { Rollout } from './parts.ts'
import { isComplete, syncProgress } from './progress.ts'
import { active, allOf, type Sets, syncPresent } from './replica-sets.ts'

export async function rollOut(rollout: Rollout, all: readonly ReplicaSet[]): Promise<number | undefined> {
  const sets = await syncPresent(rollout, all, { create: true })
  const grown = await growPresent(rollout, sets)
  if (grown !== undefined) return await syncProgress(rollout, grown)
  const shrunk = await shrinkOld(rollout, sets)
  if (shrunk !== undefined) return await syncProgress(rollout, shrunk)
  if (isComplete(rollout.deployment, rollout.deployment.status ?? {})) await cleanUp(rollout, sets.old)
  return await syncProgress(rollout, sets)
}

/**
 * Scales up the current ReplicaSet and returns all ReplicaSets. Returns undefined if the current ReplicaSet already has
 * the allowed size.
 */
async function growPresent(rollout: Rollout, sets: Sets): Promise<Sets | undefined> {
  const { present } = sets
  if (present === undefined || replicasOf(present) === rollout.replicas) return undefined
  const size = replicasOf(present)
  const next = size > rollout.replicas ? rollout.replicas : newSize(rollout.deployment, sets)
  const scaled = await rollout.scale(present, next)
  return scaled === present ? undefined : { ...sets, present: scaled }
}

/** Scales down old ReplicaSets and returns all ReplicaSets. Returns undefined if no old pod may be removed now. */
async function shrinkOld(rollout: Rollout, sets: Sets): Promise<Sets | undefined> {
  const { present } = sets
  const old = active(sets.old)
  if (old.length === 0 || present === undefined) return undefined
  const minAvailable = rollout.replicas - maxUnavailable(rollout.deployment)
  const unavailable = replicasOf(present) - stayAvailable(present)
  const mayGo = wantedIn(allOf(sets)) - minAvailable - unavailable
  if (mayGo <= 0) return undefined
  const healthy = await shrinkEach(rollout, old, {
    most: mayGo,
    by: (set) => replicasOf(set) - stayAvailable(set),
  })
  const spare = [...healthy, present].reduce((sum, set) => sum + stayAvailable(set), -minAvailable)
  const shrunk = await shrinkEach(rollout, healthy, { most: spare, by: replicasOf })
  return shrunk.every((set, i) => set === old[i]) ? undefined : { present, old: merged(sets.old, shrunk) }
}

/**
 * Scales down ReplicaSets in order. `by` limits the number of pods to remove from each ReplicaSet, and `most` limits
 * the total number.
 */
async function shrinkEach(
  rollout: Rollout,
  sets: readonly ReplicaSet[],
  { most, by }: { readonly most: number; readonly by: (set: ReplicaSet) => number },
): Promise<ReplicaSet[]> {
  const after: ReplicaSet[] = []
  let remaining = most
  for (const set of sets) {
    const count = Math.max(0, Math.min(remaining, by(set), replicasOf(set)))
    remaining -= count
    after.push(count === 0 ? set : await rollout.scale(set, replicasOf(set) - count))
  }
  return after
}

function merged(sets: readonly ReplicaSet[], changed: readonly ReplicaSet[]): ReplicaSet[] {
  const byUid = new Map(changed.map((set) => [set.metadata.uid, set]))
  return sets.map((set) => byUid.get(set.metadata.uid) ?? set)
}

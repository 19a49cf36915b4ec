/**
 * A rolling update: the new ReplicaSet grows as far as maxSurge allows, then old ones shrink as far as maxUnavailable
 * does, first by the pods that are not available anyway. One of both in a step; the change of a ReplicaSet leads to the next.
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

/** The sets afterwards; undefined where the present one has the size that it may have. */
async function growPresent(rollout: Rollout, sets: Sets): Promise<Sets | undefined> {
  const { present } = sets
  if (present === undefined || replicasOf(present) === rollout.replicas) return undefined
  const size = replicasOf(present)
  const next = size > rollout.replicas ? rollout.replicas : newSize(rollout.deployment, allOf(sets), size)
  const scaled = await rollout.scale(present, next)
  return scaled === present ? undefined : { ...sets, present: scaled }
}

/** The sets afterwards; undefined where no pod of an old one may go now. */
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

/** Shrinks ReplicaSets one after the other, each by as many pods as `by` says, and all by `most`. */
async function shrinkEach(
  rollout: Rollout,
  sets: readonly ReplicaSet[],
  { most, by }: { readonly most: number; readonly by: (set: ReplicaSet) => number },
): Promise<ReplicaSet[]> {
  const after: ReplicaSet[] = []
  let left = most
  for (const set of sets) {
    const count = Math.max(0, Math.min(left, by(set), replicasOf(set)))
    left -= count
    after.push(count === 0 ? set : await rollout.scale(set, replicasOf(set) - count))
  }
  return after
}

function merged(sets: readonly ReplicaSet[], changed: readonly ReplicaSet[]): ReplicaSet[] {
  const byUid = new Map(changed.map((set) => [set.metadata.uid, set]))
  return sets.map((set) => byUid.get(set.metadata.uid) ?? set)
}

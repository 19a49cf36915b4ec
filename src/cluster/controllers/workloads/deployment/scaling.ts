/**
 * Scales a Deployment whose number of replicas has changed. During a rollout, the difference is distributed over all
 * ReplicaSets with pods, in proportion to their sizes, to preserve the share of new pods.
 */
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import { desiredNoted, maxNoted, rollbackKey } from './annotations.ts'
import { cleanUp } from './cleanup.ts'
import { isRolling, maxSurge, replicasOf, wantedIn } from './limits.ts'
import type { Rollout } from './parts.ts'
import { syncCounts } from './progress.ts'
import { active, allOf, byAge, type Sets, syncPresent } from './replica-sets.ts'

/** Whether the user has changed the Deployment's replicas since its ReplicaSets were last scaled. */
export function isScaled({ parts, replicas }: Rollout, all: readonly ReplicaSet[]): boolean {
  return active(all).some((set) => {
    const noted = desiredNoted(parts.vendor, set)
    return noted !== undefined && noted !== replicas
  })
}

/** Scales the existing ReplicaSets and writes the status, without continuing the rollout. */
export async function scaleOnly(rollout: Rollout, all: readonly ReplicaSet[]): Promise<void> {
  const sets = await syncPresent(rollout, all, { create: false })
  const scaled = await scaleSets(rollout, sets)
  const { deployment } = rollout
  const isRollback = deployment.metadata.annotations?.[rollbackKey] !== undefined
  if (deployment.spec?.paused === true && !isRollback) await cleanUp(rollout, scaled.old)
  await syncCounts(rollout, scaled)
}

async function scaleSets(rollout: Rollout, sets: Sets): Promise<Sets> {
  const all = allOf(sets)
  const single = activeOrLatest(sets)
  if (single !== undefined) return await scaleEach(rollout, sets, [[single, rollout.replicas]])
  if (isSaturated(rollout, sets))
    return await scaleEach(
      rollout,
      sets,
      active(sets.old).map((set) => [set, 0]),
    )
  return isRolling(rollout.deployment) ? await scaleEach(rollout, sets, proportions(rollout, active(all))) : sets
}

/**
 * Returns the only ReplicaSet that has pods. If none has pods, returns the current ReplicaSet or, if there is no
 * current one, the latest ReplicaSet. If several have pods, returns undefined.
 */
function activeOrLatest(sets: Sets): ReplicaSet | undefined {
  const running = active(allOf(sets))
  if (running.length > 1) return undefined
  return running[0] ?? sets.present ?? sets.old.toSorted(byAge).at(-1)
}

/** Whether the current ReplicaSet has all desired pods and all of them are available. */
function isSaturated({ parts, replicas }: Rollout, { present }: Sets): boolean {
  return (
    present !== undefined &&
    replicasOf(present) === replicas &&
    desiredNoted(parts.vendor, present) === replicas &&
    (present.status?.availableReplicas ?? 0) === replicas
  )
}

/**
 * Returns the sizes of the ReplicaSets after distributing the difference. The largest ReplicaSet gets the rounding
 * remainder.
 */
function proportions(rollout: Rollout, running: readonly ReplicaSet[]): [ReplicaSet, number][] {
  const maxTotal = rollout.replicas > 0 ? rollout.replicas + maxSurge(rollout.deployment) : 0
  const difference = maxTotal - wantedIn(running)
  // Among ReplicaSets of equal size, newer ones grow first and older ones shrink first.
  const byAgeWanted = (a: ReplicaSet, b: ReplicaSet) => (difference > 0 ? byAge(b, a) : byAge(a, b))
  const largestFirst = running.toSorted((a, b) => replicasOf(b) - replicasOf(a) || byAgeWanted(a, b))
  let remaining = difference
  const sizes = largestFirst.map((set): [ReplicaSet, number] => {
    const part = partOf(rollout, set, difference)
    const change = difference > 0 ? Math.min(part, remaining) : Math.max(part, remaining)
    remaining -= change
    return [set, replicasOf(set) + change]
  })
  const [largest] = sizes
  if (largest !== undefined) largest[1] = Math.max(0, largest[1] + remaining)
  return sizes
}

/** Returns a ReplicaSet's share of the difference in replicas, in proportion to its size. */
function partOf({ deployment, parts, replicas }: Rollout, set: ReplicaSet, difference: number): number {
  if (difference === 0) return 0
  if (replicas === 0) return -replicasOf(set)
  const before = maxNoted(parts.vendor, set) ?? deployment.status?.replicas ?? 0
  if (before === 0) return difference
  return Math.round((replicasOf(set) * (replicas + maxSurge(deployment))) / before) - replicasOf(set)
}

async function scaleEach(rollout: Rollout, sets: Sets, sizes: readonly [ReplicaSet, number][]): Promise<Sets> {
  const scaled = new Map<ReplicaSet, ReplicaSet>()
  for (const [set, size] of sizes) scaled.set(set, await rollout.scale(set, size))
  const after = (set: ReplicaSet) => scaled.get(set) ?? set
  return { present: sets.present && after(sets.present), old: sets.old.map(after) }
}

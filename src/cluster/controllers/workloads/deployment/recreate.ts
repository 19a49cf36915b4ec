/** The Recreate strategy: creates new pods only after all old pods have terminated. */
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import { byController } from '../ownership.ts'
import { hasEnded } from '../pod-state.ts'
import { cleanUp } from './cleanup.ts'
import { presentIn } from './limits.ts'
import type { Rollout } from './parts.ts'
import { isComplete, syncProgress } from './progress.ts'
import { active, syncPresent } from './replica-sets.ts'

export async function recreate(rollout: Rollout, all: readonly ReplicaSet[]): Promise<number | undefined> {
  const before = await syncPresent(rollout, all, { create: false })
  const running = active(before.old)
  for (const set of running) await rollout.scale(set, 0)
  if (running.length > 0 || hasOldPods(rollout, before.old)) return await syncProgress(rollout, before)
  const sets = before.present === undefined ? await syncPresent(rollout, all, { create: true }) : before
  const present = sets.present && (await rollout.scale(sets.present, rollout.replicas))
  if (isComplete(rollout.deployment, rollout.deployment.status ?? {})) await cleanUp(rollout, sets.old)
  return await syncProgress(rollout, { ...sets, present })
}

/** Whether a pod of an old template may still be running. Terminating pods count as running. */
function hasOldPods({ parts }: Rollout, old: readonly ReplicaSet[]): boolean {
  const pods = byController(parts.pods)
  const mayRun = ({ metadata: { namespace = '', uid = '' } }: ReplicaSet) =>
    !pods.controlledBy(namespace, uid).every(hasEnded)
  return presentIn(old) > 0 || old.some(mayRun)
}

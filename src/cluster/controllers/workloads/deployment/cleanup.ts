/** Deletes unused ReplicaSets beyond the revision history limit, oldest first. */

import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { nameOf } from '../../../../client/requests/resource-type.ts'
import { ignoreNotFound } from '../../ignore-not-found.ts'
import { byRevision } from './annotations.ts'
import { replicasOf } from './limits.ts'
import type { Rollout } from './parts.ts'
import { byAge } from './replica-sets.ts'

const noLimit = 2 ** 31 - 1

export async function cleanUp({ deployment, parts, signal }: Rollout, old: readonly ReplicaSet[]): Promise<void> {
  const { revisionHistoryLimit: limit = noLimit } = deployment.spec ?? {}
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (limit === noLimit || alive.length <= limit) return
  const order = byRevision(parts.vendor)
  const oldest = alive.toSorted((a, b) => order(a, b) || byAge(a, b))
  for (const set of oldest.slice(0, alive.length - limit)) {
    if (!isUnused(set)) continue
    const { uid = '', resourceVersion = '' } = set.metadata
    await ignoreNotFound(
      parts.client.delete(kinds.ReplicaSet, nameOf(set), { preconditions: { uid, resourceVersion }, signal }),
    )
  }
}

/** Whether the ReplicaSet has no pods, and the replicaset loop has observed that it should have none. */
function isUnused(set: ReplicaSet): boolean {
  const { metadata, status = {} } = set
  const { replicas = 0, observedGeneration = 0 } = status
  return replicas === 0 && replicasOf(set) === 0 && (metadata.generation ?? 0) <= observedGeneration
}

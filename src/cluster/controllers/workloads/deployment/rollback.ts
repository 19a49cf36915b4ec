/**
 * Rolls back a Deployment to an earlier template if an annotation requests it. Clients of an old API version set that
 * annotation. kubectl and orchctl write the template themselves.
 */

import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import type { Vendor } from '../../../../api/model/vendor.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { annotationsAfterRollback, byRevision, readRevision, revisionOf, rollbackKey } from './annotations.ts'
import type { Rollout } from './parts.ts'
import { allOf, sameTemplate, syncPresent, withoutHash } from './replica-sets.ts'

/**
 * Returns the requested revision, or undefined if there is no valid request. The value 0 means the previous revision.
 */
export function rollbackTo({ metadata }: Deployment): bigint | undefined {
  return readRevision(metadata.annotations?.[rollbackKey])
}

export async function rollBack(rollout: Rollout, all: readonly ReplicaSet[]): Promise<void> {
  const sets = allOf(await syncPresent(rollout, all, { create: true }))
  const { vendor } = rollout.parts
  const requestedRevision = rollbackTo(rollout.deployment) ?? 0n
  const revision = requestedRevision === 0n ? lastRevision(vendor, sets) : requestedRevision
  const set = sets.find((each) => revisionOf(vendor, each) === revision)
  if (revision === 0n) rollout.event('Warning', 'RollbackRevisionNotFound', 'Unable to find last revision.')
  else if (set === undefined)
    rollout.event('Warning', 'RollbackRevisionNotFound', 'Unable to find the revision to rollback to.')
  await writeTemplate(rollout, revision === 0n ? undefined : set)
}

/** Returns the second-highest revision, or 0 if there are fewer than two revisions. */
function lastRevision(vendor: Vendor, sets: readonly ReplicaSet[]): bigint {
  const before = sets.toSorted(byRevision(vendor)).at(-2)
  return before === undefined ? 0n : revisionOf(vendor, before)
}

/** Removes the rollback annotation and, if a ReplicaSet is given, restores its template. */
async function writeTemplate(rollout: Rollout, set: ReplicaSet | undefined): Promise<void> {
  const { deployment, parts, name } = rollout
  const next = set === undefined ? deployment : returned(rollout, set)
  const { [rollbackKey]: _, ...annotations } = next.metadata.annotations ?? {}
  const written = { ...next, metadata: { ...next.metadata, annotations } }
  rollout.deployment = await parts.client.update(kinds.Deployment, written, { signal: rollout.signal })
  if (set !== undefined && next !== deployment)
    rollout.event(
      'Normal',
      'RollbackDone',
      `Rolled back deployment "${name}" to revision ${revisionOf(parts.vendor, set)}`,
    )
}

function returned({ deployment, parts }: Rollout, set: ReplicaSet): Deployment {
  if (sameTemplate(deployment.spec?.template, set.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment "${deployment.metadata.name}"`
    parts.recorder.record(deployment, { type: 'Warning', reason: 'RollbackTemplateUnchanged', message })
    return deployment
  }
  const annotations = annotationsAfterRollback(parts.vendor, deployment, set)
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: { ...deployment.spec, template: withoutHash(set.spec?.template) },
  }
}

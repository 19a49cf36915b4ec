/** Writes the pods and claims of a StatefulSet, and records each write as an Event of the set. */

import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { messageOf } from '../../../../base/text/errors.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { nameOf } from '../../../../client/requests/resource-type.ts'
import { isConflict, isNotFound, StatusError } from '../../../../client/requests/status-error.ts'
import { isNamespaceEnding } from '../pod-control.ts'
import { isOfEarlierPod, withSetAsOwner } from './claim-retention.ts'
import { claimsOf, newPod, podName } from './identity.ts'
import type { SetStep } from './parts.ts'

/** Creates the pod for an ordinal, and any missing claims of the pod. */
export async function createOrdinal(step: SetStep, ordinal: number): Promise<Pod> {
  const { parts, set, signal } = step
  return await writeWithEvent(step, { verb: 'Create', pod: podName(set, ordinal) }, async () => {
    await createClaims(step, ordinal)
    return await parts.client.create(kinds.Pod, newPod(step, ordinal), { signal })
  })
}

/** Deletes a pod if it still has the same UID. */
export async function deleteOrdinal(step: SetStep, pod: Pod): Promise<void> {
  const { parts, signal } = step
  const { uid = '', name = '' } = pod.metadata
  try {
    await writeWithEvent(step, { verb: 'Delete', pod: name }, async () => {
      await parts.client.delete(kinds.Pod, nameOf(pod), { preconditions: { uid }, signal })
    })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

/** Writes a pod whose labels or volumes were corrected to match its ordinal, and creates missing claims. */
export async function updateOrdinal(step: SetStep, pod: Pod, ordinal: number): Promise<void> {
  const { parts, signal } = step
  await writeWithEvent(step, { verb: 'Update', pod: pod.metadata.name ?? '' }, async () => {
    await createClaims(step, ordinal)
    await parts.client.update(kinds.Pod, pod, { signal })
  })
}

async function createClaims(step: SetStep, ordinal: number): Promise<void> {
  const { parts, set, signal } = step
  for (const claim of claimsOf(set, ordinal)) {
    const { name = '', namespace = '' } = claim.metadata
    const cachedClaim = parts.claims.get({ namespace, name })
    if (cachedClaim?.metadata.deletionTimestamp !== undefined) throw new ClaimError(`pvc ${name} is being deleted`)
    if (cachedClaim !== undefined && isOfEarlierPod(parts, set, { claim: cachedClaim, pod: podName(set, ordinal) }))
      throw new ClaimError(`pvc ${name} belongs to an earlier pod and will be deleted with that pod`)
    if (cachedClaim !== undefined) continue
    try {
      await parts.client.create(kinds.PersistentVolumeClaim, withSetAsOwner(step, claim), { signal })
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error
      continue
    }
    const message = `create Claim ${name} Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name} success`
    parts.recorder.record(set, { type: 'Normal', reason: 'SuccessfulCreate', message })
  }
}

/** Thrown if a claim of the pod cannot be used yet. */
export class ClaimError extends Error {
  override readonly name = 'ClaimError'
}

/** Whether an error is expected and needs no Event, because the namespace is terminating or the cache was stale. */
function isQuiet(error: unknown): boolean {
  if (isNamespaceEnding(error) || isConflict(error) || isNotFound(error)) return true
  return error instanceof StatusError && error.reason === 'AlreadyExists'
}

async function writeWithEvent<T>(
  { parts, set, signal }: SetStep,
  { verb, pod }: { readonly verb: 'Create' | 'Delete' | 'Update'; readonly pod: string },
  write: () => Promise<T>,
): Promise<T> {
  const what = `${verb.toLowerCase()} Pod ${pod} in StatefulSet ${set.metadata.name}`
  try {
    const writtenObject = await write()
    parts.recorder.record(set, { type: 'Normal', reason: `Successful${verb}`, message: `${what} successful` })
    return writtenObject
  } catch (error) {
    if (!signal.aborted && !isQuiet(error)) {
      const message = `${what} failed error: ${messageOf(error)}`
      parts.recorder.record(set, { type: 'Warning', reason: `Failed${verb}`, message })
    }
    throw error
  }
}

/**
 * Determines the objects that belong to an owner, that is, the objects that the owner controls and selects. The owner
 * adopts matching orphans and releases controlled objects that it no longer selects. A terminating owner does neither.
 *
 * Before adopting anything, the function reads the owner from the server instead of the cache, because neither a
 * terminating owner nor a new object with the same name may adopt objects. Each patch includes the UID of the object it
 * changes.
 */

import type { ObjectBase } from '../../../api/model/object.ts'
import type { Labels } from '../../../api/selectors/label-selector.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOf, type ResourceType } from '../../../client/requests/resource-type.ts'
import { isInvalid } from '../../../client/requests/status-error.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { controllerOf, controllerReference } from './ownership.ts'

export interface ClaimParts<T extends ObjectBase, O extends ObjectBase> {
  readonly client: Client
  readonly type: ResourceType<T>
  readonly owner: O
  readonly ownerType: ResourceType<O>
  readonly selects: (labels: Labels) => boolean
  /** Additional condition that a selected object must meet. Defaults to none. */
  readonly fits?: (object: T) => boolean
  /** Finalizers that are added to an adopted object. Defaults to none. */
  readonly adoptedFinalizers?: readonly string[]
  readonly signal: AbortSignal
}

/**
 * Returns the candidates that belong to the owner after adoption and release. Processes all candidates before throwing
 * the first failure. Yields to other work if there are many candidates.
 */
export async function claimObjects<T extends ObjectBase, O extends ObjectBase>(
  parts: ClaimParts<T, O>,
  candidates: Iterable<T>,
): Promise<T[]> {
  const claimed: T[] = []
  const failures: unknown[] = []
  const slice = new TimeSlice()
  let mayAdopt: Promise<void> | undefined
  for (const object of candidates) {
    if (slice.charge(1)) await slice.yieldIfDue()
    const verdict = judge(parts, object)
    if (verdict === 'keep') claimed.push(object)
    if (verdict === 'keep' || verdict === 'ignore') continue
    try {
      if (verdict === 'release') await release(parts, object)
      else {
        mayAdopt ??= checkOwner(parts)
        await mayAdopt
        if (await adopt(parts, object)) claimed.push(object)
      }
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return claimed
}

function judge<T extends ObjectBase, O extends ObjectBase>(
  { owner, selects, fits = () => true }: ClaimParts<T, O>,
  object: T,
): 'keep' | 'ignore' | 'adopt' | 'release' {
  const controller = controllerOf(object)
  if (controller !== undefined && controller.uid !== owner.metadata.uid) return 'ignore'
  const selected = selects(object.metadata.labels) && fits(object)
  if (controller !== undefined && selected) return 'keep'
  if (owner.metadata.deletionTimestamp !== undefined) return 'ignore'
  if (controller !== undefined) return 'release'
  return selected && object.metadata.deletionTimestamp === undefined ? 'adopt' : 'ignore'
}

/** Throws if the owner no longer exists or is terminating. */
async function checkOwner<T extends ObjectBase, O extends ObjectBase>(parts: ClaimParts<T, O>): Promise<void> {
  const { client, owner, ownerType, signal } = parts
  const { kind, metadata } = owner
  const fresh = await ignoreNotFound(client.get(ownerType, nameOf(owner), { signal }))
  if (fresh?.metadata.uid !== metadata.uid)
    throw new Error(
      `${kind} ${metadata.namespace}/${metadata.name} with UID ${metadata.uid} is gone; nothing is adopted`,
    )
  if (fresh?.metadata.deletionTimestamp !== undefined)
    throw new Error(`${kind} ${metadata.namespace}/${metadata.name} is being deleted; nothing is adopted`)
}

/** Adopts an object. Returns false if the object no longer exists. */
async function adopt<T extends ObjectBase, O extends ObjectBase>(
  { client, type, owner, adoptedFinalizers = [], signal }: ClaimParts<T, O>,
  object: T,
): Promise<boolean> {
  const metadata = {
    uid: object.metadata.uid,
    ownerReferences: [controllerReference(owner)],
    ...(adoptedFinalizers.length > 0 ? { finalizers: [...adoptedFinalizers] } : {}),
  }
  const patch = { strategic: { metadata } }
  return (await ignoreNotFound(client.patch(type, nameOf(object), { patch, signal }))) !== undefined
}

async function release<T extends ObjectBase, O extends ObjectBase>(
  { client, type, owner, signal }: ClaimParts<T, O>,
  object: T,
): Promise<void> {
  const ownerReferences = [{ $patch: 'delete', uid: owner.metadata.uid }]
  const patch = { strategic: { metadata: { uid: object.metadata.uid, ownerReferences } } }
  try {
    await ignoreNotFound(client.patch(type, nameOf(object), { patch, signal }))
  } catch (error) {
    // The patch is invalid if another client has released the object or its name now belongs to a different object.
    if (!isInvalid(error)) throw error
  }
}

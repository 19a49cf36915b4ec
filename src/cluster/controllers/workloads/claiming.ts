/**
 * Decides which objects an owner works with: those that it controls and selects. Selected orphans are adopted; what it
 * controls and no longer selects is released. An owner that is being deleted does neither.
 *
 * An adoption rests on the owner as the server has it, not on the informer's copy: one that is about to go, or a new
 * object of its name, must not take anything over. Each patch names the UID of what it changes.
 */

import type { ObjectBase } from '../../../api/model/object.ts'
import type { Labels } from '../../../api/selectors/label-selector.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOf, type ResourceType } from '../../../client/requests/resource-type.ts'
import { isInvalid } from '../../../client/requests/status-error.ts'
import { unlessGone } from '../unless-gone.ts'
import { controllerOf, controllerReference } from './ownership.ts'

export interface ClaimParts<T extends ObjectBase, O extends ObjectBase> {
  readonly client: Client
  readonly type: ResourceType<T>
  readonly owner: O
  readonly ownerType: ResourceType<O>
  readonly selects: (labels: Labels) => boolean
  /** Whether an object that the selector selects can be this owner's at all; true by default. */
  readonly fits?: (object: T) => boolean
  readonly signal: AbortSignal
}

/**
 * The candidates that are the owner's afterwards. Throws the first failure when all have been tried. Others get their turn
 * where there are many.
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
    const wanted = judge(parts, object)
    if (wanted === 'keep') claimed.push(object)
    if (wanted === 'keep' || wanted === 'ignore') continue
    try {
      if (wanted === 'release') await release(parts, object)
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

/** Throws unless the owner is still there and is not being deleted. */
async function checkOwner<T extends ObjectBase, O extends ObjectBase>(parts: ClaimParts<T, O>): Promise<void> {
  const { client, owner, ownerType, signal } = parts
  const { kind, metadata } = owner
  const fresh = await unlessGone(client.get(ownerType, nameOf(owner), { signal }))
  if (fresh?.metadata.uid !== metadata.uid)
    throw new Error(
      `${kind} ${metadata.namespace}/${metadata.name} with UID ${metadata.uid} is gone; nothing is adopted`,
    )
  if (fresh?.metadata.deletionTimestamp !== undefined)
    throw new Error(`${kind} ${metadata.namespace}/${metadata.name} is being deleted; nothing is adopted`)
}

/** Whether the object was there to be adopted. */
async function adopt<T extends ObjectBase, O extends ObjectBase>(
  { client, type, owner, signal }: ClaimParts<T, O>,
  object: T,
): Promise<boolean> {
  const metadata = { uid: object.metadata.uid, ownerReferences: [controllerReference(owner)] }
  const patch = { strategic: { metadata } }
  return (await unlessGone(client.patch(type, nameOf(object), { patch, signal }))) !== undefined
}

async function release<T extends ObjectBase, O extends ObjectBase>(
  { client, type, owner, signal }: ClaimParts<T, O>,
  object: T,
): Promise<void> {
  const ownerReferences = [{ $patch: 'delete', uid: owner.metadata.uid }]
  const patch = { strategic: { metadata: { uid: object.metadata.uid, ownerReferences } } }
  try {
    await unlessGone(client.patch(type, nameOf(object), { patch, signal }))
  } catch (error) {
    // Someone else released it, or another object has the name by now.
    if (!isInvalid(error)) throw error
  }
}

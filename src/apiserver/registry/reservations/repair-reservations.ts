/**
 * Mends what objects hold of the pools. A commit writes both in one step, so they agree whatever crashes; they do not
 * after damage: an object that could not be read was deleted, or somebody changed keys of the store by hand.
 *
 * What is found by memory is done only if it still holds in the store: a claim goes, or comes, in a commit that rests on
 * the object that holds it. So nothing is freed that a write under way is about to hold, however old the memory is.
 */
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { HeldReservation } from '../../../storage/cache/reservations.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'
import { readObject } from '../reads/read-stored.ts'
import { heldBy, keyOfReservation } from './reservations.ts'

export interface Repaired {
  /** Keys of what no object held. */
  readonly freed: string[]
  /** Keys of what an object held without its being written down. */
  readonly taken: string[]
  /** Keys of what more than one object holds: which of them is to let go is for their owners to say. */
  readonly shared: string[]
}

/** Releases reservations that no object holds, and adds those that an object lacks. */
export async function repairReservations(catalogue: Catalogue): Promise<Repaired> {
  const repaired: Repaired = { freed: [], taken: [], shared: [] }
  const kinds = new Set(catalogue.all().flatMap((type) => (type.endpoint === undefined ? [type.stored ?? type] : [])))
  for (const resource of kinds) {
    if (resource.kind.reservations === undefined) continue
    await waitForCaches(resource)
    await freeUnheld(resource, repaired)
    await takeHeld(resource, repaired)
  }
  return repaired
}

async function freeUnheld(resource: Resource, { freed }: Repaired): Promise<void> {
  const pace = new TimeSlice()
  const ours = [...resource.caches.reservations.all()].filter(({ holder }) => holder.startsWith(resource.cache.prefix))
  for (const claim of ours) {
    await pace.yieldIfDue()
    const held = resource.cache.get(claim.holder)
    if (resource.cache.unreadable(claim.holder) !== undefined || (held && holds(resource, held, claim))) continue
    if (await free(resource, claim, held?.revision ?? 0)) freed.push(claim.key)
  }
}

function holds(resource: Resource, { json }: CachedObject, { key }: HeldReservation): boolean {
  return heldBy(resource, readObject(json)).some((claim) => keyOfReservation(claim) === key)
}

async function free({ store }: Resource, { key, revision, holder }: HeldReservation, seen: number): Promise<boolean> {
  const guards = [{ key: holder, revision: seen }]
  return (await store.commit({ key, expected: revision, value: undefined, guards })).outcome === 'committed'
}

async function takeHeld(resource: Resource, { taken, shared }: Repaired): Promise<void> {
  const pace = new TimeSlice()
  for (const slice of resource.cache.slices({ namespace: undefined }))
    for (const held of slice) {
      await pace.yieldIfDue()
      for (const claim of heldBy(resource, readObject(held.json))) {
        const known = resource.caches.reservations.get(claim.pool, claim.value)
        const key = keyOfReservation(claim)
        if (known === undefined && (await take(resource, key, held))) taken.push(key)
        else if (known !== undefined && known.holder !== held.key && isThere(resource, held)) shared.push(key)
      }
    }
}

/** Whether it is as it was when the look began. */
function isThere({ cache }: Resource, held: CachedObject): boolean {
  return cache.get(held.key) === held
}

async function take({ store }: Resource, key: string, { key: holder, revision }: CachedObject): Promise<boolean> {
  const guards = [{ key: holder, revision }]
  return (await store.commit({ key, expected: 0, value: Buffer.from(holder), guards })).outcome === 'committed'
}

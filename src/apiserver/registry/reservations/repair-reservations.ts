/**
 * Repairs reservations that do not match the objects. A commit writes an object and its reservations atomically, so a
 * crash cannot cause a mismatch. Mismatches arise only from damage, for example if an unreadable object was deleted or
 * keys were edited manually.
 *
 * Repairs are planned based on the cached data. Each repair commits only if the revision of the object is unchanged, so
 * an outdated cache cannot release a value that a concurrent write is about to reserve.
 */
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { HeldReservation } from '../../../storage/cache/reservations.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'
import { readObject } from '../reads/read-stored.ts'
import { heldBy, keyOfReservation } from './reservations.ts'

export interface Repaired {
  /** Keys of reservations that were released because they did not belong to any object. */
  readonly freed: string[]
  /** Keys of missing reservations that were restored. */
  readonly restored: string[]
  /** Keys of values that several objects use. Users must resolve these conflicts themselves. */
  readonly shared: string[]
}

/** Releases the reservations that no object needs, and restores missing reservations. */
export async function repairReservations(catalogue: Catalogue): Promise<Repaired> {
  const repaired: Repaired = { freed: [], restored: [], shared: [] }
  const kinds = new Set(catalogue.all().flatMap((type) => (type.endpoint === undefined ? [type.stored ?? type] : [])))
  for (const resource of kinds) {
    if (resource.kind.reservations === undefined) continue
    await waitForCaches(resource)
    await freeUnheld(resource, repaired)
    await restoreReservations(resource, repaired)
  }
  return repaired
}

async function freeUnheld(resource: Resource, { freed }: Repaired): Promise<void> {
  const timeSlice = new TimeSlice()
  const ours = [...resource.caches.reservations.all()].filter(({ holder }) => holder.startsWith(resource.cache.prefix))
  for (const reservation of ours) {
    await timeSlice.yieldIfDue()
    const held = resource.cache.get(reservation.holder)
    if (resource.cache.unreadable(reservation.holder) !== undefined || (held && holds(resource, held, reservation)))
      continue
    if (await free(resource, reservation, held?.revision ?? 0)) freed.push(reservation.key)
  }
}

function holds(resource: Resource, { json }: CachedObject, { key }: HeldReservation): boolean {
  return heldBy(resource, readObject(json)).some((reservation) => keyOfReservation(reservation) === key)
}

async function free({ store }: Resource, { key, revision, holder }: HeldReservation, seen: number): Promise<boolean> {
  const guards = [{ key: holder, revision: seen }]
  return (await store.commit({ key, expected: revision, value: undefined, guards })).outcome === 'committed'
}

async function restoreReservations(resource: Resource, { restored, shared }: Repaired): Promise<void> {
  const timeSlice = new TimeSlice()
  for (const slice of resource.cache.slices({ namespace: undefined }))
    for (const held of slice) {
      await timeSlice.yieldIfDue()
      for (const reservation of heldBy(resource, readObject(held.json))) {
        const storedReservation = resource.caches.reservations.get(reservation.pool, reservation.value)
        const key = keyOfReservation(reservation)
        if (storedReservation === undefined && (await take(resource, key, held))) restored.push(key)
        else if (storedReservation !== undefined && storedReservation.holder !== held.key && isThere(resource, held))
          shared.push(key)
      }
    }
}

/** Returns whether the cache still contains exactly the given object. */
function isThere({ cache }: Resource, held: CachedObject): boolean {
  return cache.get(held.key) === held
}

async function take({ store }: Resource, key: string, { key: holder, revision }: CachedObject): Promise<boolean> {
  const guards = [{ key: holder, revision }]
  return (await store.commit({ key, expected: 0, value: Buffer.from(holder), guards })).outcome === 'committed'
}

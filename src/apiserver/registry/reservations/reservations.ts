/**
 * Reserves values, such as addresses, when objects are written. A kind assigns values to its object before validation,
 * and the commit reserves and releases the values together with the object. Only the commit reserves values, so failed
 * writes, rejected writes and dry runs need no cleanup.
 */

import { invalidObject } from '../../../api/model/api-error.ts'
import { tooMany } from '../../../api/model/field-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Reservation } from '../../../api/schema/reservations.ts'
import { reservationKey } from '../../../storage/cache/reservations.ts'
import { maxReservedKeys, type ReservedKey } from '../../../storage/store/store.ts'
import { keyOf, kindRef, type Resource, waitForCaches } from '../catalogue/resource.ts'
import { allocatorOf } from './pools.ts'

/**
 * Maximum number of reservations per object. This is half the limit for a commit, so that a commit can replace all
 * reservations of an object.
 */
const maxReservationsPerObject = maxReservedKeys / 2

/**
 * Returns the object with its allocated values. Before rejecting a conflicting value, brings the caches up to date,
 * because another object may have released the value in the meantime.
 */
export async function allocate(
  resource: Resource,
  object: ApiObject,
  previous: ApiObject | undefined,
): Promise<ApiObject> {
  if (resource.kind.reservations === undefined) return object
  const current = heldBy(resource, previous)
  let { next, faults } = tryToHold(resource, object, { previous, current })
  if (faults.length > 0) {
    await waitForCaches(resource)
    ;({ next, faults } = tryToHold(resource, object, { previous, current }))
  }
  if (faults.length > 0) throw invalidObject(kindRef(resource), object.metadata.name ?? '', faults)
  return next
}

interface Before {
  readonly previous: ApiObject | undefined
  /** The reservations of the previous version of the object. */
  readonly current: readonly Reservation[]
}

/** Allocates values based on the cached reservations. */
function tryToHold(resource: Resource, object: ApiObject, { previous, current }: Before) {
  const { pools, caches, kind, addressRecords: records } = resource
  const reservations = kind.reservations!
  const next = 'allocate' in reservations ? structuredClone(object) : object
  const faults =
    'allocate' in reservations
      ? reservations.allocate(
          next,
          previous,
          allocatorOf({
            pools,
            reservations: caches.reservations,
            records,
            maxValues: maxReservationsPerObject,
            current,
          }),
        )
      : refuseTaken(resource, reservations.reservationsOf(next), current).map(reservations.refusal)
  return { next, faults: faults.length > 0 ? faults : checkCount(resource, next) }
}

function refuseTaken(
  { caches }: Resource,
  requestedValues: readonly Reservation[],
  current: readonly Reservation[],
): Reservation[] {
  const currentKeys = new Set(current.map(keyOfReservation))
  return requestedValues.filter(
    (reservation) =>
      caches.reservations.has(reservation.pool, reservation.value) && !currentKeys.has(keyOfReservation(reservation)),
  )
}

function checkCount(resource: Resource, object: ApiObject) {
  const { length } = heldBy(resource, object)
  return length > maxReservationsPerObject ? [tooMany('spec', length, maxReservationsPerObject)] : []
}

/**
 * Returns the keys to reserve and to release when `next` replaces `previous`. Returns undefined if the kind has no
 * reservations.
 */
export function reservationChanges(
  resource: Resource,
  next: ApiObject | undefined,
  previous: ApiObject | undefined,
): { reserves: ReservedKey[]; releases: string[] } | undefined {
  if (resource.kind.reservations === undefined) return undefined
  const [after, before] = [byKey(heldBy(resource, next)), byKey(heldBy(resource, previous))]
  const added = [...after].filter(([key]) => !before.has(key))
  const removed = [...before].filter(([key]) => !after.has(key))
  const object = (next ?? previous)!
  const holder = holderOf(resource, object)
  const records = resource.addressRecords?.changes(object, {
    added: added.map(([, reservation]) => reservation),
    removed: removed.map(([, reservation]) => reservation),
  })
  return {
    reserves: [...added.map(([key]) => ({ key, value: holder })), ...(records?.reserves ?? [])],
    releases: [...removed.map(([key]) => key), ...(records?.releases ?? [])],
  }
}

function byKey(reservations: readonly Reservation[]): Map<string, Reservation> {
  return new Map(reservations.map((reservation) => [keyOfReservation(reservation), reservation]))
}

/** Returns the key of the object. The key is stored as the value of the object's reservations. */
function holderOf(resource: Resource, { metadata: { namespace = '', name = '' } }: ApiObject): Buffer {
  return Buffer.from(keyOf(resource, namespace, name))
}

export function heldBy({ kind }: Resource, object: ApiObject | undefined): readonly Reservation[] {
  return object === undefined ? [] : (kind.reservations?.reservationsOf(object) ?? [])
}

export function keyOfReservation({ pool, value }: Reservation): string {
  return reservationKey(pool, value)
}

/** Returns the keys that an object has reserved, even if the object is unreadable. */
export function claimsOf({ caches, kind }: Resource, holder: string): string[] {
  if (kind.reservations === undefined) return []
  const current = [...caches.reservations.all()].filter((reservation) => reservation.holder === holder)
  return current.map(({ key }) => key).slice(0, maxReservedKeys)
}

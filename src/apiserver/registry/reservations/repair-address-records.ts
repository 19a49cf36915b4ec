/**
 * Repairs IPAddresses that do not match the Services. Mismatches arise if a client deletes or creates an IPAddress, or
 * if IPAddresses are enabled on an existing store. Each repair has a precondition on the revisions of the Service and
 * the IPAddress, so that it cannot undo a concurrent write.
 */

import type { IPAddress } from '../../../api/kinds/networking/ip-address.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Guard } from '../../../storage/store/store.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { keyOf, type Resource, waitForCaches } from '../catalogue/resource.ts'
import { readObject } from '../reads/read-stored.ts'
import { heldBy } from './reservations.ts'
import type { ValueRecords } from './value-records.ts'

export interface RepairedRecords {
  /** Addresses of Services for which the repair created a missing IPAddress. */
  readonly created: string[]
  /** Addresses whose IPAddress named a Service that does not use the address. */
  readonly deleted: string[]
}

/**
 * Creates missing IPAddresses for Services, and deletes IPAddresses that the server created but that belong to no
 * Service.
 */
export async function repairAddressRecords(catalogue: Catalogue): Promise<RepairedRecords> {
  const repaired: RepairedRecords = { created: [], deleted: [] }
  const services = catalogue.stored('core', 'services')
  const records = services?.addressRecords
  const addresses = catalogue.stored('networking', 'ipaddresses')
  if (services === undefined || records === undefined || addresses === undefined) return repaired
  await waitForCaches(services)
  await createMissing(services, records, repaired)
  await deleteOrphaned({ services, addresses, records }, repaired)
  return repaired
}

async function createMissing(services: Resource, records: ValueRecords, { created }: RepairedRecords): Promise<void> {
  const timeSlice = new TimeSlice()
  for (const slice of services.cache.slices({ namespace: undefined }))
    for (const held of slice) {
      await timeSlice.yieldIfDue()
      const service = readObject(held.json)
      for (const reservation of heldBy(services, service)) {
        const record = records.isTaken(reservation) ? undefined : records.recordOf(service, reservation)
        const guards = [{ key: held.key, revision: held.revision }]
        if (record !== undefined && (await commit(services, { ...record, expected: 0, guards })))
          created.push(reservation.value)
      }
    }
}

interface Addresses {
  readonly services: Resource
  readonly addresses: Resource
  readonly records: ValueRecords
}

async function deleteOrphaned(
  { services, addresses, records }: Addresses,
  { deleted }: RepairedRecords,
): Promise<void> {
  const timeSlice = new TimeSlice()
  for (const slice of addresses.cache.slices({ namespace: undefined }))
    for (const held of slice) {
      await timeSlice.yieldIfDue()
      const address = readObject(held.json)
      if (!records.isManaged(address) || (address.metadata.finalizers ?? []).length > 0) continue
      const parent = parentOf(services, address)
      if (parent?.held !== undefined && isHeld(services, parent.held, address)) continue
      const guards = parent === undefined ? [] : [{ key: parent.key, revision: parent.held?.revision ?? 0 }]
      const { key, revision: expected } = held
      if (await commit(addresses, { key, expected, value: undefined, guards }))
        deleted.push(address.metadata.name ?? '')
    }
}

/** Returns the key of the parent Service of an IPAddress, and the Service if it exists. */
function parentOf(
  services: Resource,
  { spec }: IPAddress,
): { key: string; held: CachedObject | undefined } | undefined {
  const { group = '', resource, namespace = '', name = '' } = spec?.parentRef ?? {}
  if (group !== '' || resource !== 'services') return undefined
  const key = keyOf(services, namespace, name)
  return { key, held: services.cache.get(key) }
}

function isHeld(services: Resource, { json }: CachedObject, { metadata: { name } }: IPAddress): boolean {
  return heldBy(services, readObject(json)).some(({ value }) => value === name)
}

interface Repair {
  readonly key: string
  readonly expected: number
  readonly value: Uint8Array | undefined
  readonly guards: readonly Guard[]
}

async function commit({ store }: Resource, repair: Repair): Promise<boolean> {
  return (await store.commit(repair)).outcome === 'committed'
}

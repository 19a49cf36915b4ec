/**
 * Manages the IPAddress objects of Services. The commit that reserves a cluster IP for a Service also creates its
 * IPAddress, and the commit that releases the cluster IP also deletes the IPAddress. Clients may create IPAddresses for
 * addresses that they use themselves. The server never assigns such an address to a Service.
 */
import { encodeSliced } from '../../../api/codec/stored.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { addressPools } from '../../../api/kinds/core/types/service-addresses.ts'
import type { IPAddress } from '../../../api/kinds/networking/ip-address.ts'
import { trackUpdate } from '../../../api/merge/track-update.ts'
import type { IpFamily } from '../../../api/model/ip-range.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { normalizeSliced } from '../../../api/schema/normalize.ts'
import type { Reservation } from '../../../api/schema/reservations.ts'
import { runToCompletion } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Key, ReservedKey } from '../../../storage/store/store.ts'
import { keyOf, type Resource } from '../catalogue/resource.ts'
import { otherVersions } from '../reads/conversion.ts'
import { readObject } from '../reads/read-stored.ts'
import { systemMetadata } from '../writes/metadata.ts'
import { storable } from '../writes/storable.ts'
import type { HoldingChange, ValueRecords } from './value-records.ts'

/** The IP family of each address pool, by pool name. */
const families: ReadonlyMap<string, IpFamily> = new Map(
  (Object.keys(addressPools) as IpFamily[]).map((family) => [addressPools[family], family]),
)

/** Creates and deletes the IPAddresses that belong to the cluster IPs of Services. */
export class AddressRecords implements ValueRecords {
  readonly #find: () => Resource | undefined

  /** Creates an instance. `find` returns the IPAddress type, which is looked up later because it is not served yet. */
  constructor(find: () => Resource | undefined) {
    this.#find = find
  }

  /** Returns whether an IPAddress exists for the reserved value. */
  isTaken({ pool, value }: Reservation): boolean {
    const addresses = this.#find()
    return families.has(pool) && addresses !== undefined && this.#cached(addresses, value) !== undefined
  }

  /** Returns the IPAddresses to create and to delete in the same commit as the Service. */
  changes(service: ApiObject, { added, removed }: HoldingChange): { reserves: ReservedKey[]; releases: Key[] } {
    const addresses = this.#find()
    if (addresses === undefined) return { reserves: [], releases: [] }
    const ownedKeys = removed.flatMap(({ pool, value }) => {
      const cached = families.has(pool) ? this.#cached(addresses, value) : undefined
      return cached !== undefined && isOwned(cached, service) ? [cached.key] : []
    })
    return { reserves: added.flatMap((reservation) => this.recordOf(service, reservation) ?? []), releases: ownedKeys }
  }

  /** Returns the IPAddress of a cluster IP as it is stored. Returns undefined for values that are not addresses. */
  recordOf(service: ApiObject, { pool, value }: Reservation): ReservedKey | undefined {
    const family = families.get(pool)
    const addresses = this.#find()
    if (family === undefined || addresses === undefined) return undefined
    const key = keyOf(addresses, '', value)
    const object = newAddress(addresses, { family, value, service })
    return { key, value: runToCompletion(encodeSliced(key, storable(addresses, { object, completeFor: undefined }))) }
  }

  /** Returns whether an API server created the IPAddress. */
  isManaged({ metadata }: ApiObject): boolean {
    const addresses = this.#find()
    return addresses !== undefined && isAllocatedAddress(addresses.vendor, metadata)
  }

  #cached(addresses: Resource, value: string): CachedObject | undefined {
    return addresses.cache.get(keyOf(addresses, '', value))
  }
}

/** Returns whether the IPAddress belongs to the given Service and can be deleted immediately. */
function isOwned(address: CachedObject, { metadata: { namespace, name } }: ApiObject): boolean {
  const { metadata, spec } = readObject(address.json) as IPAddress
  const { group = '', resource, ...parent } = spec?.parentRef ?? {}
  const isParent = group === '' && resource === 'services' && parent.namespace === namespace && parent.name === name
  return isParent && (metadata.finalizers ?? []).length === 0
}

/** Returns whether an API server created the IPAddress, according to its labels. */
export function isAllocatedAddress(vendor: Vendor, { labels }: ApiObject['metadata']): boolean {
  return labels?.[managedBy(vendor)] === managerName(vendor)
}

function managedBy(vendor: Vendor): string {
  return vendorKey(vendor, 'managed-by', 'ipaddress')
}

function managerName(vendor: Vendor): string {
  return `ipallocator.${vendor.groupDomain}`
}

interface NewAddress {
  readonly family: IpFamily
  readonly value: string
  readonly service: ApiObject
}

function newAddress(addresses: Resource, { family, value, service }: NewAddress): ApiObject {
  const { vendor, kind, apiVersion, context } = addresses
  const { namespace, name } = service.metadata
  const labels = {
    [vendorKey(vendor, 'ip-family', 'ipaddress')]: family,
    [managedBy(vendor)]: managerName(vendor),
  }
  const parentRef = { resource: 'services', namespace, name }
  const sent = { apiVersion, kind: kind.kind, metadata: { name: value, labels }, spec: { parentRef } }
  const { object } = runToCompletion(normalizeSliced(addresses, sent as unknown as JsonObject))
  const time = addresses.time()
  const managedFields = trackUpdate({
    schema: kind.schema,
    before: addresses.empty,
    after: object,
    writer: { name: vendor.managers.server, apiVersion, subresource: '', time },
    readOnly: [],
    create: true,
    versions: otherVersions(addresses),
    emulated: context.version,
  })
  return { ...object, metadata: { ...systemMetadata(object.metadata, time), ...(managedFields && { managedFields }) } }
}

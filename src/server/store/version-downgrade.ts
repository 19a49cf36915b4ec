/** Counts stored objects that an older Kubernetes version would hide completely or in part. */
import { parseOwnJson } from '../../api/codec/json.ts'
import { HeaderReader, storedJson, UnreadableValue } from '../../api/codec/stored.ts'
import type { Json } from '../../api/json/json.ts'
import { allKinds } from '../../api/kinds/all.ts'
import { kindsOfVersion } from '../../api/kinds/of-version.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { type ProfileName, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { decode } from '../../api/schema/decode.ts'
import type { Kind } from '../../api/schema/kind.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import { typeOfKey } from '../../apiserver/backup/format.ts'
import { isAllocatedAddress } from '../../apiserver/registry/reservations/address-records.ts'
import { autoUpdateKey } from '../../apiserver/upkeep/flow-control-objects.ts'
import { prefixOf } from '../../storage/cache/caches.ts'
import type { Entry, Store } from '../../storage/store/store.ts'

/** Number of affected objects of each type, such as `pods` or `jobs.batch`. */
export interface AffectedObjects {
  readonly withNewerFields: ReadonlyMap<string, number>
  readonly ofNewerKinds: ReadonlyMap<string, number>
}

const pageEntries = 500

/**
 * Reads all stored objects and counts those with parts that do not exist in the older version. Objects that the server
 * itself creates and maintains are not counted, because the server recreates them for each version.
 */
export async function countAffected(
  store: Store,
  { version, profile }: { readonly version: EmulatedVersion; readonly profile: ProfileName },
): Promise<AffectedObjects> {
  const counts = new AffectedCounts(version, vendorOf(profile))
  let after: string | undefined
  for (;;) {
    const range = { prefix: 'objects/', limit: pageEntries, count: false, ...(after !== undefined && { after }) }
    const { entries, remaining } = await store.list(range)
    for (const entry of entries) counts.add(entry)
    after = entries.at(-1)?.key
    if (remaining === 0 || after === undefined) return counts
  }
}

class AffectedCounts implements AffectedObjects {
  readonly withNewerFields = new Map<string, number>()
  readonly ofNewerKinds = new Map<string, number>()
  readonly #vendor: Vendor
  readonly #headers = new HeaderReader()
  /** The kinds of the lower version, by their key prefix in the store. */
  readonly #kinds: ReadonlyMap<string, Kind>
  readonly #knownPrefixes: ReadonlySet<string>

  constructor(version: EmulatedVersion, vendor: Vendor) {
    this.#vendor = vendor
    this.#kinds = new Map(kindsOfVersion(version).map((kind) => [keyPrefixOf(kind), kind.conversion?.stored ?? kind]))
    this.#knownPrefixes = new Set(allKinds.map(keyPrefixOf))
  }

  add(entry: Entry): void {
    const prefix = entry.key.split('/', 3).join('/').concat('/')
    const kind = this.#kinds.get(prefix)
    if (kind === undefined && !this.#knownPrefixes.has(prefix)) return
    const object = this.#read(entry)
    if (object === undefined || this.#isOwn(entry.key, object)) return
    if (kind === undefined) count(this.ofNewerKinds, entry.key)
    else if (decode(kind.schema, object, { vendor: this.#vendor }).unknown.length > 0)
      count(this.withNewerFields, entry.key)
  }

  /** Returns the object, or undefined if it is unreadable. No version shows unreadable objects. */
  #read({ key, value }: Entry): Json | undefined {
    try {
      if (this.#headers.read(key, value).version === undefined) return undefined
    } catch (error) {
      if (error instanceof UnreadableValue) return undefined
      throw error
    }
    return parseOwnJson(storedJson(value, '0', Buffer.allocUnsafe).json)
  }

  /** Whether the server itself created the object and still maintains it. */
  #isOwn(key: string, object: Json): boolean {
    const vendor = this.#vendor
    const { metadata } = object as unknown as ApiObject
    if (key === `${prefixOf('networking', 'servicecidrs')}${vendor.apiService}`) return true
    return metadata.annotations?.[autoUpdateKey(vendor)] === 'true' || isAllocatedAddress(vendor, metadata)
  }
}

function keyPrefixOf({ group, plural, conversion }: Kind): string {
  return conversion === undefined
    ? prefixOf(group, plural)
    : prefixOf(conversion.stored.group, conversion.stored.plural)
}

function count(counts: Map<string, number>, key: string): void {
  const type = typeOfKey(key)
  if (type !== undefined) counts.set(type, (counts.get(type) ?? 0) + 1)
}

/**
 * Defines stored types. A Resource combines the definition of a kind, its API names, and the cache and store that the
 * verbs use. The verbs in `registry/` are functions on a Resource and do not depend on any particular kind.
 */

import type { Selectable } from '../../../api/codec/stored.ts'
import { type ApiError, notFound, serviceUnavailable, unreadable } from '../../../api/model/api-error.ts'
import { type ApiObject, timestamp } from '../../../api/model/object.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { Kind, ShownAs } from '../../../api/schema/kind.ts'
import { type EmulatedVersion, isAtLeast, oldestVersion } from '../../../api/versions/emulated-version.ts'
import type { Gates } from '../../../api/versions/feature-gates.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Caches } from '../../../storage/cache/caches.ts'
import { EncodedObjectBudget, EncodedObjectCache } from '../../../storage/cache/encoded-objects.ts'
import type { KindCache } from '../../../storage/cache/kind-cache.ts'
import type { Guard, Store } from '../../../storage/store/store.ts'
import type { Admission } from '../../admission/admission.ts'
import type { ContinueTokens } from '../reads/continue-token.ts'
import type { HistoryReaders } from '../reads/history-readers.ts'
import { otherVersionReader } from '../reads/other-versions.ts'
import type { Pool } from '../reservations/pools.ts'
import type { ValueRecords } from '../reservations/value-records.ts'
import { KeyedQueue } from '../writes/keyed-queue.ts'
import type { Endpoint } from './endpoint.ts'
import { isSameKind, type Served, serveKind, type Virtual } from './served.ts'

/** Dependencies that all resources share, such as the store and the caches. */
export interface RegistryParts {
  readonly vendor: Vendor
  readonly store: Store
  readonly caches: Caches
  readonly clock: Clock
  readonly continueTokens: ContinueTokens
  readonly historyReaders: HistoryReaders
  readonly gates: Gates
  /** The emulated Kubernetes version. Defaults to the oldest supported version. */
  readonly version?: EmulatedVersion
  /** Lifetime in seconds of objects of an expiring kind, such as Event. Every write restarts the lifetime. */
  readonly lifetimeSeconds: number
  /** Pools of values, such as addresses and ports. Only one object at a time can reserve a given value. */
  readonly pools: readonly Pool[]
  /** The IPAddress objects for the cluster IPs of Services. If undefined, the server creates no IPAddress objects. */
  readonly addressRecords?: ValueRecords | undefined
  /** Returns the labels of a namespace, or undefined if it does not exist. */
  readonly namespaceLabels?: (namespace: string) => { readonly [key: string]: string } | undefined
  /**
   * Returns the admission plugins, such as quota, that must be notified of deletions by the server itself. Undefined if
   * no plugin needs to.
   */
  readonly accounting?: () => Admission
  /**
   * Returns a precondition that makes the commit fail if the definition of this type has changed. Set only for types
   * that a stored object defines. Throws TypeChanged if the definition has already changed, and ApiError if the type
   * accepts no new objects. `name` is the name of the object to create, for the error message.
   */
  readonly definitionGuard?: (write: 'create' | 'change', name?: string) => Promise<Guard>
}

/** A stored type with its cache and store. */
export interface Resource extends Served, RegistryParts {
  readonly endpoint: undefined
  readonly cache: KindCache
  /** The cached Protobuf encodings of objects in this version of the kind. */
  readonly messages: EncodedObjectCache
  /** Runs writes to the same object one after another. */
  readonly writeQueue: KeyedQueue
  /** Returns the current time as a timestamp for objects. */
  readonly time: () => string
  /**
   * The storage version of the kind. Undefined if this resource is the storage version. All versions share the cache
   * and the keys.
   */
  readonly stored: Resource | undefined
  /** All served versions of the kind, in all API groups. */
  readonly versions: readonly Resource[]
  /**
   * Subresources, such as `scale`, that show the object as another kind. The verbs treat each of these views as one
   * more API version of the object.
   */
  readonly views: ReadonlyMap<string, Resource>
  /** The API version of the object that a view such as `scale` shows. Undefined if the resource is not a view. */
  readonly shows?: string | undefined
}

/** A type that the server serves, either stored or virtual. */
export type ServedType = Resource | Virtual

/**
 * Returns the served types of the given kinds, in the same order. If `kinds` contains any version of a kind, it must
 * also contain the storage version of that kind.
 */
export function serveKinds(
  kinds: readonly Kind[],
  parts: RegistryParts,
  endpoints: readonly Endpoint[] = [],
): ServedType[] {
  const stored = kinds.filter((kind) => kind.conversion === undefined && !kind.lifecycle.virtual)
  const room = new EncodedObjectBudget()
  const resources = stored.flatMap((kind) => serveVersions(kind, kinds, { parts, endpoints, room }))
  return kinds.map((kind) => {
    const resource = kind.lifecycle.virtual
      ? serveVirtual(kind, parts, endpoints)
      : resources.find((each) => each.kind === kind)
    if (resource === undefined) throw new TypeError(`the resource ${kind.plural} has neither storage nor a handler`)
    return resource
  })
}

function serveVirtual(kind: Kind, parts: RegistryParts, endpoints: readonly Endpoint[]): Virtual | undefined {
  const served = serveKind(kind, parts, endpoints)
  const { endpoint } = served
  return endpoint && { ...served, verbs: endpoint.verbs, endpoint, clock: parts.clock, stored: undefined }
}

interface Serving {
  readonly parts: RegistryParts
  readonly endpoints?: readonly Endpoint[]
  /** The memory limit for cached Protobuf encodings. Undefined for custom kinds, which do not support Protobuf. */
  readonly room?: EncodedObjectBudget
}

/** Returns the types for a storage version and for the other versions of the same kind among `kinds`. */
function serveVersions(kind: Kind, kinds: readonly Kind[], serving: Serving): Resource[] {
  const others = kinds.filter(({ conversion }) => conversion !== undefined && isSameKind(conversion.stored, kind))
  return serveTogether([kind, ...others], serving)
}

/**
 * Returns the types for all versions of one kind, which share a cache and store keys. A built-in version is converted
 * from and to the first version. Custom versions need no conversion here, because each of them can read every stored
 * version.
 */
export function serveTogether(
  kinds: readonly [Kind, ...Kind[]],
  { parts, endpoints = [], room = new EncodedObjectBudget() }: Serving,
): Resource[] {
  const [{ group, plural, origin }] = kinds
  const versions: Resource[] = []
  const otherVersions = origin === 'built-in' ? otherVersionReader(() => versions[0]!, parts.version) : undefined
  const shared = {
    ...parts,
    cache: parts.caches.add(group, plural, otherVersions),
    writeQueue: new KeyedQueue(),
    time: timeOf(parts.clock),
    versions,
  }
  const serve = (version: Kind, stored: Resource | undefined): Resource => {
    const views = new Map<string, Resource>()
    const messages = new EncodedObjectCache(room)
    const own = { ...serveKind(version, parts, endpoints), ...shared, messages, endpoint: undefined, stored, views }
    for (const [name, { as }] of Object.entries(version.views.subresources ?? {}))
      if (as !== undefined)
        views.set(name, { ...showAs(as, stored ?? own, new EncodedObjectCache(room)), shows: version.version })
    return own
  }
  for (const kind of kinds) versions.push(serve(kind, kind.conversion === undefined ? undefined : versions[0]))
  return versions
}

function showAs(
  { kind, read, unreadable, write }: ShownAs<ApiObject>,
  stored: Resource,
  messages: EncodedObjectCache,
): Resource {
  const conversion = {
    stored: stored.kind,
    unreadable,
    fromStored: (object: ApiObject) => read(object),
    toStored: (sent: ApiObject, _: Vendor, previous = stored.empty) => {
      const object = structuredClone(previous)
      write(sent, object, stored.context)
      return object
    },
  }
  const shown = serveKind({ ...kind, conversion }, stored, [])
  return { ...stored, ...shown, messages, plural: stored.plural, group: stored.group, endpoint: undefined, stored }
}

/** Returns a function that formats the current time as a timestamp. The timestamp is cached for up to a second. */
function timeOf(clock: Clock): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) text = timestamp(now * 1000)
    second = now
    return text
  }
}

/**
 * Returns the store key of an object. The caller must validate the name first, because a slash in the name would result
 * in the key of another object.
 */
export function keyOf(resource: Resource, namespace: string, name: string): string {
  return namespace === '' ? `${resource.cache.prefix}${name}` : `${resource.cache.prefix}${namespace}/${name}`
}

/** Returns the error for an object that is not in the cache: not found, or unreadable. */
export function notFoundError(resource: Resource, namespace: string, name: string): ApiError {
  const held = resource.cache.unreadable(keyOf(resource, namespace, name))
  if (held === undefined) return notFound(resource, name)
  return unreadable(resource, name, `${held.why}; ${held.remedy}`)
}

/**
 * Returns the group and kind to name in an error message. For a view such as Scale, these are its own group and kind.
 */
export function kindRef({ kind, vendor, version = oldestVersion }: Resource): { group: string; kind: string } {
  const { faultGroup } = kind
  const isEarlier = faultGroup !== undefined && !isAtLeast(version, faultGroup.until)
  return { group: isEarlier ? faultGroup.name : groupName(vendor, kind.group), kind: kind.kind }
}

/** Maximum time in milliseconds that a read waits for the cache to catch up with the store. */
const catchUpMs = 3000

/** A store and the caches that follow its changes. */
export type CatchingUp = Pick<RegistryParts, 'store' | 'caches'>

/**
 * Returns a function that throws an error if the caches have been reloaded since this call. A restored store may
 * contain deleted objects again, so a deletion of several objects must not continue with an outdated list.
 */
export function assertSameLoad({ caches }: Pick<RegistryParts, 'caches'>): () => void {
  const { epoch } = caches
  return () => {
    if (caches.epoch !== epoch) throw serviceUnavailable('the server reloaded the store in the meantime; try again')
  }
}

/**
 * Waits until the caches contain every write that was acknowledged before the call. Returns undefined if there is
 * nothing to wait for.
 */
export function waitForCaches({ store, caches }: CatchingUp): Promise<void> | undefined {
  const revision = store.revision()
  if (typeof revision !== 'number') return revision.then((later) => catchUp(caches, later))
  return caches.revision >= revision ? undefined : catchUp(caches, revision)
}

async function catchUp(caches: Caches, revision: number): Promise<void> {
  if (await caches.reached(revision, catchUpMs)) return
  throw serviceUnavailable('the server has not caught up with its store yet; try again')
}

/**
 * Reads an object from the store into a cache that is still loading in the background, so that the object can be read
 * from the cache. Call it before each read from such a cache. Returns undefined if no store read is needed.
 */
export function fetchObject({ cache, caches }: Resource, key: string): Promise<void> | undefined {
  return caches.fetch(cache, key)
}

/** Returns the labels and selectable fields of an object, for the cache's selector index. */
export function headerOf({ kind }: Resource, object: ApiObject): Selectable {
  return { labels: object.metadata.labels, fields: kind.views.selectable?.(object) }
}

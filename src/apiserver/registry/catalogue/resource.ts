/**
 * A stored kind as it is served: the definition joined with its names on the wire and the parts that its verbs work on.
 * The verbs in this room are functions on a Resource; none of them names a kind.
 */

import type { Selectable } from '../../../api/codec/stored.ts'
import { type ApiError, notFound, serviceUnavailable, unreadable } from '../../../api/model/api-error.ts'
import type { Gates } from '../../../api/model/feature-gates.ts'
import { type ApiObject, timestamp } from '../../../api/model/object.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { Kind, ShownAs } from '../../../api/schema/kind.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Caches } from '../../../storage/cache/caches.ts'
import { EncodedObjectBudget, EncodedObjectCache } from '../../../storage/cache/encoded-objects.ts'
import type { KindCache } from '../../../storage/cache/kind-cache.ts'
import type { Guard, Store } from '../../../storage/store/store.ts'
import type { Admission } from '../../admission/admission.ts'
import type { ContinueTokens } from '../reads/continue-token.ts'
import type { HistoryReaders } from '../reads/history-readers.ts'
import type { Pool } from '../reservations/pools.ts'
import { KeyedQueue } from '../writes/keyed-queue.ts'
import type { Endpoint } from './endpoint.ts'
import { type Served, serveKind, type Virtual } from './served.ts'

/** What all resources share. */
export interface RegistryParts {
  readonly vendor: Vendor
  readonly store: Store
  readonly caches: Caches
  readonly clock: Clock
  readonly continueTokens: ContinueTokens
  readonly historyReaders: HistoryReaders
  /** The features that are on. */
  readonly gates: Gates
  /** How long objects of a kind that expires stay after they were last written. */
  readonly lifetimeSeconds: number
  /** What objects may hold one at a time: addresses, ports. */
  readonly pools: readonly Pool[]
  /** Who keeps account of what the server deletes of its own accord; nobody, where it is left out. */
  readonly accounting?: () => Admission
  /**
   * For kinds that are defined by an object of the store: what writes of their objects rest on, so that none is stored by
   * a definition that has changed. Throws TypeChanged where it has, and ApiError where nothing may be created any more.
   */
  readonly standing?: (write: 'create' | 'change') => Promise<Guard>
}

/** A stored type: how it is served, its cache and its store. */
export interface Resource extends Served, RegistryParts {
  readonly endpoint: undefined
  readonly cache: KindCache
  /** The Protobuf messages of the objects in this version, those that were asked for. */
  readonly messages: EncodedObjectCache
  /** Who may write to an object now. */
  readonly turns: KeyedQueue
  /** The present time as objects carry it. */
  readonly time: () => string
  /** The version that is stored, where this is another one of the same kind. They share cache and keys. */
  readonly stored: Resource | undefined
  /** All versions of the kind that are served, in whichever group. */
  readonly versions: readonly Resource[]
  /**
   * Sub-resources that show the object as one of another kind, such as `scale`: to the verbs each is one more version
   * of the stored object.
   */
  readonly views: ReadonlyMap<string, Resource>
  /** For such a view: the version of the type whose sub-resource it is. */
  readonly shows?: string | undefined
}

/** What is served: every request is for one of these. */
export type ServedType = Resource | Virtual

/** Serves kinds in the order given; a version that is not stored needs the stored one among them. */
export function serveKinds(
  kinds: readonly Kind[],
  parts: RegistryParts,
  endpoints: readonly Endpoint[] = [],
): ServedType[] {
  const stored = kinds.filter((kind) => kind.conversion === undefined && !kind.life.virtual)
  const room = new EncodedObjectBudget()
  const resources = stored.flatMap((kind) => serveVersions(kind, kinds, { parts, endpoints, room }))
  return kinds.map((kind) => {
    const resource = kind.life.virtual
      ? serveVirtual(kind, parts, endpoints)
      : resources.find((each) => each.kind === kind)
    if (resource === undefined) throw new TypeError(`nothing stores or answers ${kind.plural}`)
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
  /** Where messages are kept; kinds that users define have none. */
  readonly room?: EncodedObjectBudget
}

/** The stored version of a kind, and all others of it that are among `kinds`. */
function serveVersions(kind: Kind, kinds: readonly Kind[], serving: Serving): Resource[] {
  return serveTogether([kind, ...kinds.filter(({ conversion }) => conversion?.stored === kind)], serving)
}

/**
 * All versions of one kind: they share cache and keys. Those with a conversion are versions of the first; those that a
 * user defined have none, as each reads whatever is stored.
 */
export function serveTogether(
  kinds: readonly [Kind, ...Kind[]],
  { parts, endpoints = [], room = new EncodedObjectBudget() }: Serving,
): Resource[] {
  const [{ group, plural }] = kinds
  const versions: Resource[] = []
  const shared = {
    ...parts,
    cache: parts.caches.add(group, plural),
    turns: new KeyedQueue(),
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
      write(sent, object)
      return object
    },
  }
  const shown = serveKind({ ...kind, conversion }, stored, [])
  return { ...stored, ...shown, messages, plural: stored.plural, group: stored.group, endpoint: undefined, stored }
}

/** Formats each second once, however many writes it has. */
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

/** The store key of an object. Names are checked before they get here: a slash in one would be a bug. */
export function keyOf(resource: Resource, namespace: string, name: string): string {
  return namespace === '' ? `${resource.cache.prefix}${name}` : `${resource.cache.prefix}${namespace}/${name}`
}

/** Why there is no object under this name to work on: there is none, or it cannot be read. */
export function notFoundError(resource: Resource, namespace: string, name: string): ApiError {
  const held = resource.cache.unreadable(keyOf(resource, namespace, name))
  if (held === undefined) return notFound(resource, name)
  const remedy = held.newer ? 'use that one' : 'delete it, or restore it from a backup'
  return unreadable(resource, name, `${held.why}; ${remedy}`)
}

/** The kind as errors name it: that of a view, such as Scale, where one is written through. */
export function kindRef({ kind, vendor }: Resource): { group: string; kind: string } {
  return { group: kind.faultGroup ?? groupName(vendor, kind.group), kind: kind.kind }
}

/** How long a read waits for a cache that lags behind the store. */
const catchUpMs = 3000

/** Where the most recent state is, and what this server holds of it. */
export type CatchingUp = Pick<RegistryParts, 'store' | 'caches'>

/**
 * Returns a check that throws once the caches were loaded anew. A restore of the store brings deleted objects back, so
 * whoever deletes several objects must not go on by what it read before.
 */
export function assertSameLoad({ caches }: Pick<RegistryParts, 'caches'>): () => void {
  const { epoch } = caches
  return () => {
    if (caches.epoch !== epoch) throw serviceUnavailable('the store was read anew meanwhile; try again')
  }
}

/** Waits until the caches hold every write that was acknowledged before this call; undefined when they do already. */
export function waitForCaches({ store, caches }: CatchingUp): Promise<void> | undefined {
  const revision = store.revision()
  if (typeof revision !== 'number') return revision.then((later) => catchUp(caches, later))
  return caches.revision >= revision ? undefined : catchUp(caches, revision)
}

async function catchUp(caches: Caches, revision: number): Promise<void> {
  if (await caches.reached(revision, catchUpMs)) return
  throw serviceUnavailable('the server has not caught up with its store yet; try again')
}

/** What the cache and its selectors need to know of an object. */
export function headerOf({ kind }: Resource, object: ApiObject): Selectable {
  return { labels: object.metadata.labels, fields: kind.views.selectable?.(object) }
}

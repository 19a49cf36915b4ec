/**
 * A kind as it is served: the definition joined with its names on the wire and the parts that its verbs work on.
 * The verbs in this room are functions on a Resource; none of them names a kind.
 */
import type { Clock } from '../base/clock.ts'
import type { Caches } from '../cache/caches.ts'
import type { KindCache } from '../cache/kind-cache.ts'
import type { Selectable } from '../codec/stored.ts'
import { type ApiError, notFound, serviceUnavailable, unreadable } from '../model/api-error.ts'
import { type ApiObject, asObject, timestamp } from '../model/object.ts'
import { apiVersionOf, groupName, type Vendor } from '../model/vendor.ts'
import type { RuleContext } from '../schema/context.ts'
import { decode } from '../schema/decode.ts'
import type { Kind } from '../schema/kind.ts'
import type { Store } from '../store/store.ts'
import type { ContinueTokens } from './continue-token.ts'
import type { HistoryReaders } from './history-readers.ts'
import { Turns } from './turns.ts'

/** What all resources share. */
export interface RegistryParts {
  readonly vendor: Vendor
  readonly store: Store
  readonly caches: Caches
  readonly clock: Clock
  readonly continueTokens: ContinueTokens
  readonly historyReaders: HistoryReaders
  /** How long objects of a kind that expires stay after they were last written. */
  readonly lifetimeSeconds: number
}

export interface Resource extends RegistryParts {
  readonly kind: Kind
  /** The group on the wire: '' for the core group. */
  readonly group: string
  readonly plural: string
  readonly apiVersion: string
  readonly cache: KindCache
  /** Who may write to an object now. */
  readonly turns: Turns
  /** The present time as objects carry it. */
  readonly time: () => string
  readonly context: RuleContext
  /** The object before it exists: what a create is compared with. */
  readonly empty: ApiObject
  /** The version that is stored, where this is another one of the same kind. They share cache and keys. */
  readonly stored: Resource | undefined
  /** All versions of the kind that are served. */
  readonly versions: readonly Resource[]
}

/** Serves kinds in the order given; a version that is not stored needs the stored one among them. */
export function serveKinds(kinds: readonly Kind[], parts: RegistryParts): Resource[] {
  const stored = kinds.filter((kind) => kind.conversion === undefined)
  const served = stored.flatMap((kind) => serveVersions(kind, kinds, parts))
  return kinds.map((kind) => {
    const resource = served.find((candidate) => candidate.kind === kind)
    if (resource === undefined) throw new TypeError(`the stored version of ${kind.plural} is not served`)
    return resource
  })
}

/** The stored version of a kind, and all others of it that are among `kinds`. */
function serveVersions(kind: Kind, kinds: readonly Kind[], parts: RegistryParts): Resource[] {
  const versions: Resource[] = []
  const stored: Resource = {
    ...parts,
    kind,
    group: groupName(parts.vendor, kind.group),
    plural: kind.plural,
    ...typeOf(kind, parts.vendor),
    cache: parts.caches.add(kind.group, kind.plural),
    turns: new Turns(),
    time: timeOf(parts.clock),
    context: { vendor: parts.vendor, subresource: '' },
    stored: undefined,
    versions,
  }
  const others = kinds.filter(({ conversion }) => conversion?.stored === kind)
  versions.push(stored, ...others.map((other) => ({ ...stored, kind: other, ...typeOf(other, parts.vendor), stored })))
  return versions
}

/** A second has many writes, and is put into words once. */
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

function typeOf(kind: Kind, vendor: Vendor): Pick<Resource, 'apiVersion' | 'empty'> {
  const apiVersion = apiVersionOf(vendor, kind.group, kind.version)
  return { apiVersion, empty: asObject(decode(kind.schema, { apiVersion, kind: kind.kind }).value) }
}

/** The store key of an object. Names are checked before they get here; a slash in one would be a fault of ours. */
export function keyOf(resource: Resource, namespace: string, name: string): string {
  return namespace === '' ? `${resource.cache.prefix}${name}` : `${resource.cache.prefix}${namespace}/${name}`
}

/** Why there is no object under this name to work on: there is none, or it cannot be read. */
export function absent(resource: Resource, namespace: string, name: string): ApiError {
  const held = resource.cache.unreadable(keyOf(resource, namespace, name))
  if (held === undefined) return notFound(resource, name)
  const remedy = held.newer ? 'use that one' : 'delete it, or restore it from a backup'
  return unreadable(resource, name, `${held.why}; ${remedy}`)
}

export function kindRef(resource: Resource): { group: string; kind: string } {
  return { group: resource.group, kind: resource.kind.kind }
}

/** How long a read waits for a cache that lags behind the store. */
const catchUpMs = 3000

/** Waits until the caches hold every write that was acknowledged before this call; undefined when they do already. */
export function readMostRecent({ store, caches }: RegistryParts): Promise<void> | undefined {
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
  return { labels: object.metadata.labels, fields: kind.selectable?.(object) }
}

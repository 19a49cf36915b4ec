/** Implements the `Lookup` interface (`api/model/lookup.ts`) with the caches of the catalogue. */

import type { EachQuery, ListQuery, Lookup, ObjectName, StoredObject, StoredType } from '../../../api/model/lookup.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { type CatchingUp, keyOf, notFoundError, type Resource, waitForCaches } from '../catalogue/resource.ts'
import { readStored, readStoredSliced } from './read-stored.ts'

/** Returns a lookup that reads from the caches of a catalogue. */
export function lookupIn(catalogue: Catalogue, parts: CatchingUp): Lookup {
  // Caches the parsed form of each cached object, because every write looks up its namespace.
  const read = new WeakMap<CachedObject, StoredObject>()
  const open = ({ kind }: Resource, cached: CachedObject): StoredObject => {
    const before = read.get(cached)
    if (before !== undefined) return before
    const { key, revision } = cached
    const storedObject = { key, revision, object: readStored(kind, cached) }
    read.set(cached, storedObject)
    return storedObject
  }
  const getCached = (type: StoredType<unknown>, { namespace, name }: ObjectName) => {
    const resource = stored(catalogue, type)
    const cached = resource.cache.get(keyOf(resource, namespace, name))
    return cached && open(resource, cached)
  }
  // The casts are safe because stored objects were decoded with the schema of their kind.
  return {
    getCached,
    getLatest: (type, name) => {
      const wait = waitForCaches(stored(catalogue, type))
      return wait === undefined ? getCached(type, name) : wait.then(() => getCached(type, name))
    },
    waitUntilCurrent: () => waitForCaches(parts),
    follow: ({ group, plural }, { changed, reset }) => {
      const cache = catalogue.stored(group, plural)?.cache
      cache?.onChange((key) => (key === undefined ? reset() : changed(nameIn(key.slice(cache.prefix.length)))))
      return cache !== undefined
    },
    names: (type, namespace) => each(stored(catalogue, type).cache.slices({ namespace })),
    readUncached: (type, { namespace, name }) => {
      const resource = stored(catalogue, type)
      const cached = resource.cache.get(keyOf(resource, namespace, name))
      return cached && readStored(resource.kind, cached)
    },
    readAllUncached: (type) => {
      const { kind, cache } = stored(catalogue, type)
      return each(cache.slices({ namespace: undefined })).map((cached) => [cached, readStored(kind, cached)])
    },
    list: (type, { namespace, label, whole = false }: ListQuery) => {
      const resource = stored(catalogue, type)
      if (whole) assertReadable(resource, namespace)
      const all = label === undefined ? resource.cache.page(namespace) : labelled(resource, namespace, label)
      return all.map((cached) => open(resource, cached))
    },
    each: (type, query) => eachIn(stored(catalogue, type), query, open),
  } as Lookup
}

type Open = (resource: Resource, cached: CachedObject) => StoredObject

/** Yields the objects of a query. Small objects are opened with `open`, which caches their decoded form. */
async function* eachIn(resource: Resource, query: EachQuery, open: Open): AsyncGenerator<StoredObject> {
  const { namespace, label, whole = false, matches } = query
  if (whole) assertReadable(resource, namespace)
  const slices = label === undefined ? resource.cache.slices({ namespace }) : [labelled(resource, namespace, label)]
  const timeSlice = new TimeSlice()
  for (const slice of slices)
    for (const cached of slice) {
      const rest = timeSlice.yieldIfDue()
      if (rest !== undefined) await rest
      if (matches !== undefined && !matches(cached.selectable.labels ?? {})) continue
      const { key, revision } = cached
      if (cached.json.length <= maxKeptBytes) yield open(resource, cached)
      else yield { key, revision, object: await timeSlice.run(readStoredSliced(resource.kind, cached)) }
    }
}

/** Maximum size in bytes of an object whose decoded form `each` keeps for later calls. */
const maxKeptBytes = 16 * 1024

/** Throws an error if the namespace contains an object that cannot be read. */
function assertReadable(resource: Resource, namespace: string | undefined): void {
  const [damaged] = resource.cache.allUnreadable(namespace)
  if (damaged !== undefined) throw notFoundError(resource, damaged.namespace, damaged.name)
}

function labelled({ cache }: Resource, namespace: string | undefined, { key, value }: NonNullable<ListQuery['label']>) {
  const matches = ({ selectable }: CachedObject) => selectable.labels?.[key] === value
  return [...cache.slices({ namespace, matches, demand: { source: 'labels', key, values: new Set([value]) } })].flat()
}

function* each<T>(slices: Iterable<readonly T[]>): Generator<T> {
  for (const slice of slices) yield* slice
}

/** Splits the name of an object: `a/b` is the object `b` in the namespace `a`, and `b` is a cluster-scoped object. */
function nameIn(place: string): ObjectName {
  const slash = place.indexOf('/')
  return { namespace: place.slice(0, Math.max(slash, 0)), name: place.slice(slash + 1) }
}

/** Returns the storage version of a kind. Throws an error if the catalogue does not contain the kind. */
export function stored(catalogue: Catalogue, { group, plural }: StoredType<unknown>): Resource {
  const resource = catalogue.stored(group, plural)
  if (resource === undefined) throw new TypeError(`this server does not store ${plural} in the group ${group}`)
  return resource
}

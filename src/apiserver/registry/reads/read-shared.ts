/**
 * Parses a cached object once for several readers. Several loops watch the same kind, and parsing large objects such as
 * definitions is expensive. Callers must not modify the result.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, type Resource } from '../catalogue/resource.ts'
import { readStored } from './read-stored.ts'

/** The most recently parsed object of each resource. A weak reference allows it to be garbage-collected. */
const last = new WeakMap<Resource, { readonly cached: CachedObject; readonly object: WeakRef<ApiObject> }>()

/** Returns a cached object, which the caller must not modify. Undefined if the object does not exist. */
export function readShared(resource: Resource, name: string, namespace = ''): ApiObject | undefined {
  const cached = resource.cache.get(keyOf(resource, namespace, name))
  if (cached === undefined) return undefined
  const lastRead = last.get(resource)
  const shared = lastRead?.cached === cached ? lastRead.object.deref() : undefined
  if (shared !== undefined) return shared
  const object = readStored(resource.kind, cached)
  last.set(resource, { cached, object: new WeakRef(object) })
  return object
}

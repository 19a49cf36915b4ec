/**
 * An object of a cache, for those who only look at it: several loops follow one kind, and each change of a large object,
 * such as a definition, is parsed for the first of them alone. Nobody may change what is returned.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, type Resource } from '../catalogue/resource.ts'
import { readStored } from './read-stored.ts'

/** What was parsed last, for as long as somebody uses it. */
const last = new WeakMap<Resource, { readonly cached: CachedObject; readonly object: WeakRef<ApiObject> }>()

/** The object as the cache has it now; undefined where there is none. Read-only. */
export function readShared(resource: Resource, name: string, namespace = ''): ApiObject | undefined {
  const cached = resource.cache.get(keyOf(resource, namespace, name))
  if (cached === undefined) return undefined
  const known = last.get(resource)
  const shared = known?.cached === cached ? known.object.deref() : undefined
  if (shared !== undefined) return shared
  const object = readStored(resource.kind, cached)
  last.set(resource, { cached, object: new WeakRef(object) })
  return object
}

/** The objects of a selection as the cache holds them now: by name where one is named, else in slices of one state. */
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, type Resource } from '../catalogue/resource.ts'
import type { ParsedSelection } from './selection.ts'

/** In key order, those past the key `after`. Taken at the call, whenever they are read. */
export function findObjects(
  resource: Resource,
  selection: ParsedSelection,
  after?: string,
): Iterable<readonly CachedObject[]> {
  const { namespace, name, matches } = selection
  if (name === undefined) return resource.cache.slices({ ...selection, after })
  if (namespace === undefined && resource.kind.scope === 'Namespaced') {
    const named = (object: CachedObject) => object.name === name && (matches === undefined || matches(object))
    return resource.cache.slices({ ...selection, matches: named, after })
  }
  const key = keyOf(resource, namespace ?? '', name)
  const object = after === undefined || after < key ? resource.cache.get(key) : undefined
  return object && (matches === undefined || matches(object)) ? [[object]] : []
}

/**
 * Finds the cached objects of a selection: by name if the selection has one, and otherwise in slices of one consistent
 * state.
 */
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, type Resource } from '../catalogue/resource.ts'
import type { ParsedSelection } from './selection.ts'

/** Returns the objects after the key `after`, in key order. They are read from the state at the time of the call. */
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

/**
 * Finds the cached objects that a selection matches. A selection with a name needs one lookup. Any other selection
 * searches one consistent state in slices.
 */
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, type Resource } from '../catalogue/resource.ts'
import type { ParsedSelection } from './selection.ts'

/**
 * Returns the objects whose key is greater than `after`, in key order. The objects belong to the state at the time of
 * the call.
 */
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

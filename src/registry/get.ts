/** get: one object, as the bytes that the cache already holds. */
import type { CachedObject } from '../cache/cached-object.ts'
import { notFound } from '../model/api-error.ts'
import { parseVersion } from '../model/resource-version.ts'
import { keyOf, type Resource, readMostRecent } from './resource.ts'
import { waitForVersion } from './versions.ts'

/** `resourceVersion`: unset is the most recent state, `0` any, another one at least as new as that. */
export async function get(
  resource: Resource,
  namespace: string,
  name: string,
  resourceVersion: string,
): Promise<CachedObject> {
  if (resourceVersion === '') await readMostRecent(resource)
  else await waitForVersion(resource, parseVersion(resourceVersion))
  const object = resource.cache.get(keyOf(resource, namespace, name))
  if (object === undefined) throw notFound(resource, name)
  return object
}

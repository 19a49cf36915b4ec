/** get: one object, as the bytes that the cache already holds. */

import { parseVersion } from '../../../api/model/resource-version.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, notFoundError, type Resource, waitForCaches } from '../catalogue/resource.ts'
import { waitForVersion } from '../reads/versions.ts'

/** `resourceVersion`: unset is the most recent state, `0` any, another one at least as new as that. */
export function get(resource: Resource, query: GetQuery): CachedObject | Promise<CachedObject> {
  const { resourceVersion } = query
  const wait =
    resourceVersion === '' ? waitForCaches(resource) : waitForVersion(resource, parseVersion(resourceVersion))
  return wait === undefined ? find(resource, query) : wait.then(() => find(resource, query))
}

export interface GetQuery {
  readonly namespace: string
  readonly name: string
  /** The view that is asked for, where it is not the object itself. */
  readonly subresource?: string
  readonly resourceVersion: string
}

function find(resource: Resource, query: GetQuery): CachedObject {
  const { namespace, name } = query
  const object = resource.cache.get(keyOf(resource, namespace, name))
  if (object === undefined) throw notFoundError(missed(resource, query), namespace, name)
  return object
}

/** What a read did not find. A built-in kind that is shown as another one goes by both names: `deployments/scale`. */
function missed(resource: Resource, { subresource }: GetQuery): Resource {
  const { kind, stored = resource, group, plural } = resource
  const isView = kind.kind !== stored.kind.kind && stored.kind.origin === 'built-in'
  return isView ? { ...resource, group: group || kind.group, plural: `${plural}/${subresource}` } : resource
}

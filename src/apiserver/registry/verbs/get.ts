/** Implements get, which returns the cached bytes of one object. */

import { parseVersion } from '../../../api/model/resource-version.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, notFoundError, type Resource, waitForCaches } from '../catalogue/resource.ts'
import { waitForVersion } from '../reads/versions.ts'

/**
 * Returns an object. Without a `resourceVersion`, the result is the latest state. With `0`, the result is any cached
 * state. With another version, the result is a state that is at least as recent.
 */
export function get(resource: Resource, query: GetQuery): CachedObject | Promise<CachedObject> {
  const { resourceVersion } = query
  const wait =
    resourceVersion === '' ? waitForCaches(resource) : waitForVersion(resource, parseVersion(resourceVersion))
  return wait === undefined ? find(resource, query) : wait.then(() => find(resource, query))
}

export interface GetQuery {
  readonly namespace: string
  readonly name: string
  /** The requested view, such as `scale`. Undefined for the object itself. */
  readonly subresource?: string
  readonly resourceVersion: string
}

function find(resource: Resource, query: GetQuery): CachedObject {
  const { namespace, name } = query
  const object = resource.cache.get(keyOf(resource, namespace, name))
  if (object === undefined) throw notFoundError(missed(resource, query), namespace, name)
  return object
}

/**
 * Returns the group and resource for a NotFound error. Before Kubernetes 1.32, the error for a view of a built-in kind
 * includes the subresource, as in `deployments/scale`.
 */
function missed(resource: Resource, { subresource }: GetQuery): Resource {
  const { kind, stored = resource, group, plural, context } = resource
  const namesView = !isAtLeast(emulationOf(context).version, '1.32')
  const isView = namesView && kind.kind !== stored.kind.kind && stored.kind.origin === 'built-in'
  return isView ? { ...resource, group: group || kind.group, plural: `${plural}/${subresource}` } : resource
}

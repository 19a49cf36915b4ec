/** The namespaces as admission asks for them: by name, from the cache, brought up where the latest state is needed. */
import type { Namespace, Namespaces } from '../admission/controls/namespace-lifecycle.ts'
import type { CachedObject } from '../cache/cached-object.ts'
import { readObject } from '../registry/read-stored.ts'
import { keyOf, type Resource, readMostRecent } from '../registry/resource.ts'

export function knownNamespaces(namespaces: Resource): Namespaces {
  // Every write asks for its namespace: it is read once per state of it, and forgotten with that.
  const read = new WeakMap<CachedObject, Namespace>()
  const known = (name: string) => {
    const found = namespaces.cache.get(keyOf(namespaces, '', name))
    if (found === undefined) return undefined
    const namespace = read.get(found) ?? { key: found.key, revision: found.revision, object: readObject(found.json) }
    read.set(found, namespace)
    return namespace
  }
  return { known, recent: (name) => readMostRecent(namespaces)?.then(() => known(name)) ?? known(name) }
}

/**
 * Evaluates a rule that depends on the labels or annotations of a request's namespace. Makes the write depend on the
 * revision of the namespace, so that the commit fails if the namespace changes. Before rejecting a request, evaluates
 * the rule again with the latest namespace from the store, because the cache may be outdated.
 */
import { namespace as namespaces } from '../../api/kinds/core/namespace.ts'
import { notFound } from '../../api/model/api-error.ts'
import type { Lookup, StoredObject } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { AdmissionRequest } from './admission.ts'

export function decideByNamespace<T>(
  lookup: Lookup,
  request: AdmissionRequest,
  decide: (namespace: ApiObject) => T,
): T | Promise<T> {
  const place = { namespace: '', name: request.namespace }
  const at = (found: StoredObject | undefined): T => {
    if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, request.namespace)
    const decided = decide(found.object)
    request.dependOn?.(found)
    return decided
  }
  const atRecent = (use: (found: StoredObject | undefined) => T): T | Promise<T> => {
    const recent = lookup.getLatest(namespaces, place)
    return recent instanceof Promise ? recent.then(use) : use(recent)
  }
  const cachedNamespace = request.dependOn && lookup.getCached(namespaces, place)
  if (cachedNamespace === undefined) return atRecent(at)
  try {
    return at(cachedNamespace)
  } catch (refusal) {
    return atRecent((recent) => {
      if (recent?.revision === cachedNamespace.revision) throw refusal
      return at(recent)
    })
  }
}

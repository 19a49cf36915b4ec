/**
 * Makes a decision based on the labels or annotations of the request's namespace. The write depends on that state, so
 * that it is not stored if the namespace changes. Before a rejection, the decision is repeated with the latest state,
 * because another server may have changed it.
 */
import { namespace as namespaces } from '../../api/kinds/core/namespace.ts'
import { notFound } from '../../api/model/api-error.ts'
import type { Found, Lookup } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { AdmissionRequest } from './admission.ts'

export function inNamespace<T>(
  lookup: Lookup,
  request: AdmissionRequest,
  decide: (namespace: ApiObject) => T,
): T | Promise<T> {
  const place = { namespace: '', name: request.namespace }
  const at = (found: Found | undefined): T => {
    if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, request.namespace)
    const decided = decide(found.object)
    request.dependOn?.(found)
    return decided
  }
  const atRecent = (use: (found: Found | undefined) => T): T | Promise<T> => {
    const recent = lookup.getLatest(namespaces, place)
    return recent instanceof Promise ? recent.then(use) : use(recent)
  }
  const known = request.dependOn && lookup.getCached(namespaces, place)
  if (known === undefined) return atRecent(at)
  try {
    return at(known)
  } catch (refusal) {
    return atRecent((recent) => {
      if (recent?.revision === known.revision) throw refusal
      return at(recent)
    })
  }
}

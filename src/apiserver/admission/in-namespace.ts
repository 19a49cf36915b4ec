/**
 * A decision by the state of the namespace that a request is for: its labels or annotations. The write then rests on
 * that state, so that it is not stored where somebody has changed the namespace meanwhile. A refusal is never based on
 * a state that another server has already replaced: before it counts, the most recent one is looked at.
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

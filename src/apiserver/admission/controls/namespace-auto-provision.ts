/**
 * NamespaceAutoProvision: creates a missing namespace when an object is created in it. The namespace remains even if
 * the object is rejected later. Dry runs and requests that store nothing do not create a namespace. The creation of the
 * namespace is itself subject to admission, as a write by the server. If admission rejects the namespace, the object is
 * rejected too.
 */
import { namespace as namespaces } from '../../../api/kinds/core/namespace.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import type { OwnWrites } from '../own-writes.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly lookup: Lookup
  readonly ownWrites: OwnWrites
}

export function namespaceAutoProvision({ lookup, ownWrites }: Parts): Control {
  return {
    name: 'NamespaceAutoProvision',
    handles: { operations: ['CREATE'] },
    mutate: (request) => {
      const { namespace, onOutcome } = request
      const place = { namespace: '', name: namespace }
      if (namespace === '' || onOutcome === undefined || lookup.getCached(namespaces, place)) return undefined
      return provide(ownWrites, request)
    },
  }
}

async function provide(ownWrites: OwnWrites, request: AdmissionRequest): Promise<undefined> {
  try {
    await ownWrites.createMissing(namespaces, { namespace: '', name: request.namespace }, {})
  } catch (error) {
    // Report the failure as a rejection of the object, because either the name is invalid or another plugin rejects the
    // namespace.
    if (error instanceof ApiError && (error.code === 422 || error.code === 403)) throw refusal(request, error.message)
    throw error
  }
}

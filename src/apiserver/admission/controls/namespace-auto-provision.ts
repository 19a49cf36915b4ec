/**
 * NamespaceAutoProvision: an object that is created in a namespace that does not exist makes it. It is made even where
 * the object is refused later; a dry run makes none, and neither does a question that is not stored. The namespace is
 * admitted as if the server had sent it: who refuses it refuses the object.
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
    // A name that no namespace can have, or a control that does not want it.
    if (error instanceof ApiError && (error.code === 422 || error.code === 403)) throw refusal(request, error.message)
    throw error
  }
}

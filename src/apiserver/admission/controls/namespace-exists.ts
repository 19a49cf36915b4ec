/**
 * NamespaceExists: rejects writes in a namespace that does not exist. Writes in a terminating namespace are allowed.
 */
import { namespace as namespaces } from '../../../api/kinds/core/namespace.ts'
import { notFound } from '../../../api/model/api-error.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import type { AdmissionRequest, Control } from '../admission.ts'

export function namespaceExists({ lookup }: { readonly lookup: Lookup }): Control {
  return {
    name: 'NamespaceExists',
    handles: { operations: ['CREATE', 'UPDATE', 'DELETE'] },
    validate: (request) => {
      const { namespace, type } = request
      if (namespace === '' || (type.group === '' && type.plural === 'namespaces')) return undefined
      const place = { namespace: '', name: namespace }
      const storedNamespace = lookup.getCached(namespaces, place) ?? lookup.getLatest(namespaces, place)
      return storedNamespace instanceof Promise
        ? storedNamespace.then((later) => assertThere(request, later))
        : assertThere(request, storedNamespace)
    },
  }
}

/**
 * Throws 404 unless the namespace exists. The commit of a create fails if the namespace changes in the meantime, so
 * that no object is created in a deleted namespace.
 */
function assertThere(
  { operation, namespace, dependOn }: AdmissionRequest,
  storedNamespace: StoredObject | undefined,
): void {
  if (storedNamespace === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
  if (operation === 'CREATE') dependOn?.(storedNamespace)
}

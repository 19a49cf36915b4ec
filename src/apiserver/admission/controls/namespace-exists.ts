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
 * Throws an error unless the namespace exists. A create depends on the revision of the namespace, so that no object is
 * created after the namespace is deleted. Existing objects may still be deleted even if their namespace is gone.
 */
function assertThere(
  { operation, namespace, dependOn }: AdmissionRequest,
  storedNamespace: StoredObject | undefined,
): void {
  if (storedNamespace === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
  if (operation === 'CREATE') dependOn?.(storedNamespace)
}

/**
 * NamespaceLifecycle: nothing is created in a namespace that does not exist or is being deleted, and the namespaces
 * that the system needs cannot be deleted.
 */
import { ApiError, forbiddenError, notFound } from '../../model/api-error.ts'
import type { ApiObject } from '../../model/object.ts'
import type { AdmissionRequest, Control } from '../admission.ts'

/** The most recent state of a namespace; undefined when there is none. */
export type FindNamespace = (name: string) => Promise<ApiObject | undefined>

const namespaces = { group: '', plural: 'namespaces' }
const immortal = new Set(['default', 'kube-system', 'kube-public'])

export function namespaceLifecycle(findNamespace: FindNamespace): Control {
  return {
    name: 'NamespaceLifecycle',
    mutate: async (request) => {
      if (isNamespace(request)) refuseImmortal(request)
      else if (request.namespace !== '' && request.operation !== 'DELETE') await assertPlace(request, findNamespace)
      return request.object
    },
  }
}

function isNamespace({ group, plural }: AdmissionRequest): boolean {
  return group === '' && plural === 'namespaces'
}

function refuseImmortal({ operation, name }: AdmissionRequest): void {
  if (operation === 'DELETE' && immortal.has(name)) {
    throw forbiddenError(namespaces, name, `namespaces "${name}" is forbidden: this namespace may not be deleted`)
  }
}

async function assertPlace(request: AdmissionRequest, findNamespace: FindNamespace): Promise<void> {
  const namespace = await findNamespace(request.namespace)
  if (namespace === undefined) throw notFound(namespaces, request.namespace)
  if (request.operation === 'CREATE' && namespace.metadata.deletionTimestamp !== undefined) throw terminating(request)
}

function terminating({ group, plural, name, namespace }: AdmissionRequest): ApiError {
  const full = group === '' ? plural : `${plural}.${group}`
  const message = `${full} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new ApiError(403, 'Forbidden', message, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: plural,
    causes: [cause],
  })
}

/**
 * NamespaceLifecycle: rejects the creation of objects in a namespace that does not exist or is terminating, and the
 * deletion of system namespaces.
 */
import { namespace as namespaces } from '../../../api/kinds/core/namespace.ts'
import { ApiError, forbiddenError, notFound } from '../../../api/model/api-error.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusedName } from '../refusal.ts'

/** The resource type to name in error responses about namespaces. */
const namespacesRef = { group: '', plural: 'namespaces' }
const immortal = new Set(['default', 'kube-system', 'kube-public'])

interface Parts {
  readonly lookup: Lookup
  readonly vendor: Vendor
}

export function namespaceLifecycle({ lookup, vendor }: Parts): Control {
  /** Whether the request is an access review. Access reviews are not stored, so they may name any namespace. */
  const isQuestion = ({ type }: AdmissionRequest) =>
    type.plural === 'localsubjectaccessreviews' && type.group === groupName(vendor, 'authorization')
  return {
    name: 'NamespaceLifecycle',
    handles: { operations: ['CREATE', 'UPDATE', 'DELETE'] },
    mutate: (request) => {
      if (isNamespace(request)) refuseImmortal(request)
      if (isNamespace(request) || request.namespace === '' || request.operation === 'DELETE') return undefined
      if (isQuestion(request)) return undefined
      const storedNamespace = find(lookup, request)
      return storedNamespace instanceof Promise
        ? storedNamespace.then((later) => assertPlace(request, later))
        : assertPlace(request, storedNamespace)
    },
  }
}

/**
 * Looks up the namespace of a request. The cached state suffices for updates, because a namespace is not removed before
 * its objects. The cached state also suffices for writes that depend on the namespace's revision, because the commit of
 * such a write detects any change.
 */
function find(lookup: Lookup, { operation, namespace, dependOn }: AdmissionRequest) {
  const name = { namespace: '', name: namespace }
  const cachedNamespace =
    operation === 'UPDATE' || dependOn !== undefined ? lookup.getCached(namespaces, name) : undefined
  return cachedNamespace === undefined || (operation === 'CREATE' && isGoing(cachedNamespace))
    ? lookup.getLatest(namespaces, name)
    : cachedNamespace
}

function isGoing({ object }: StoredObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

function isNamespace({ type }: AdmissionRequest): boolean {
  return type.group === '' && type.plural === 'namespaces'
}

function refuseImmortal({ operation, name }: AdmissionRequest): void {
  if (operation === 'DELETE' && immortal.has(name)) {
    throw forbiddenError(namespacesRef, name, `namespaces "${name}" is forbidden: this namespace may not be deleted`)
  }
}

function assertPlace(request: AdmissionRequest, namespace: StoredObject | undefined): undefined {
  if (namespace === undefined) throw notFound(namespacesRef, request.namespace)
  if (request.operation === 'CREATE' && isGoing(namespace)) throw terminating(request)
  // A namespace is not removed before its objects, so only creates must prevent a concurrent deletion.
  if (request.operation === 'CREATE') request.dependOn?.(namespace)
}

function terminating(request: AdmissionRequest): ApiError {
  const { type, namespace } = request
  const { group, plural } = type
  const name = refusedName(request)
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

/**
 * OwnerReferencesPermissionEnforcement: changing owner references requires permission to delete the object, because
 * deleting an owner deletes its dependents. Setting blockOwnerDeletion requires permission to update the owner's
 * finalizers, because the dependent may then block the deletion of its owner.
 */

import { sameJson } from '../../../api/json/json.ts'
import type { ApiObject, OwnerReference } from '../../../api/model/object.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

/** The API group, version and plural name of an owner's resource type. */
export interface OwnerType {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespaced: boolean
}

interface Parts {
  readonly authorizer: Authorizer
  /** Returns the resource type of an owner, or undefined if the owner's kind is not served. */
  readonly ownerType: (apiVersion: string, kind: string) => OwnerType | undefined
}

export function ownerReferencesPermissionEnforcement(parts: Parts): Control {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    handles: { operations: ['CREATE', 'UPDATE'] },
    validate: (request) => {
      // A status update cannot change the owners of a pod. Node agents may send outdated owners in their status
      // updates, so status updates are not checked.
      if (request.type.plural === 'pods' && request.type.group === '' && request.subresource === 'status')
        return undefined
      const next = ownersOf(request.object)
      const previous = ownersOf(request.oldObject)
      return isSame(next, previous) ? undefined : assertMay(parts, request, { next, previous })
    },
  }
}

function ownersOf(object: ApiObject | undefined): OwnerReference[] {
  return object?.metadata?.ownerReferences ?? []
}

function isSame(next: readonly OwnerReference[], previous: readonly OwnerReference[]): boolean {
  return sameJson(next, previous)
}

interface Change {
  readonly next: readonly OwnerReference[]
  readonly previous: readonly OwnerReference[]
}

async function assertMay(parts: Parts, request: AdmissionRequest, { next, previous }: Change): Promise<void> {
  if (request.oldObject !== undefined && !(await mayDelete(parts, request)))
    throw refusal(request, "cannot set an ownerRef on a resource you can't delete")
  const blockedBefore = new Set(previous.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid))
  const authorizedOwners = new Set<string>()
  const timeSlice = new TimeSlice()
  for (const owner of next) {
    const place = `${owner.apiVersion} ${owner.kind} ${owner.name}`
    if (!owner.blockOwnerDeletion || blockedBefore.has(owner.uid) || authorizedOwners.has(place)) continue
    authorizedOwners.add(place)
    await timeSlice.yieldIfDue()
    await assertMayBlock(parts, request, owner)
  }
}

async function mayDelete({ authorizer }: Parts, { user, type, namespace, name }: AdmissionRequest): Promise<boolean> {
  const { group, version, plural } = type
  const attributes = {
    resource: true,
    verb: 'delete',
    group,
    version,
    plural,
    subresource: '',
    namespace,
    name,
  } as const
  return (await authorizer({ user, attributes })).verdict === 'allow'
}

async function assertMayBlock(
  { authorizer, ownerType }: Parts,
  request: AdmissionRequest,
  { apiVersion, kind, name }: OwnerReference,
): Promise<void> {
  const type = ownerType(apiVersion, kind)
  if (type === undefined)
    throw refusal(request, `cannot set blockOwnerDeletion: there is no kind ${kind} in ${apiVersion}`)
  const { namespaced, ...rest } = type
  const namespace = namespaced ? request.namespace : ''
  const attributes = { resource: true, verb: 'update', ...rest, subresource: 'finalizers', namespace, name } as const
  if ((await authorizer({ user: request.user, attributes })).verdict !== 'allow')
    throw refusal(
      request,
      `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${kind} "${name}"`,
    )
}

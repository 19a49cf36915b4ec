/** Reads and creates controller owner references. */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ObjectBase, OwnerReference } from '../../../api/model/object.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'

/** Returns the reference to the controller of an object. */
export function controllerOf({ metadata: { ownerReferences } }: ObjectBase): OwnerReference | undefined {
  return ownerReferences?.find(({ controller }) => controller === true)
}

export function isControlledBy(object: ObjectBase, { metadata: { uid } }: ObjectBase): boolean {
  return uid !== undefined && controllerOf(object)?.uid === uid
}

/** Creates the reference that makes this owner the controller of an object. */
export function controllerReference({ apiVersion, kind, metadata }: ObjectBase): OwnerReference {
  const { name = '', uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** Returns the key of an object's controller if the controller is of this kind. Otherwise returns undefined. */
export function controllerKey(object: ObjectBase, { kind, group }: OwnerKind): string | undefined {
  const owner = controllerOf(object)
  if (owner === undefined || owner.kind !== kind || groupOf(owner.apiVersion) !== group) return undefined
  return `${object.metadata.namespace}/${owner.name}`
}

export interface OwnerKind {
  readonly group: string
  readonly kind: string
}

/** Looks up objects by their controller. */
export interface ByController<T> {
  /**
   * Returns the objects that the owner with this UID controls. An owner is always in the same namespace as its objects.
   */
  controlledBy(namespace: string, uid: string): T[]
  /** Returns the objects of a namespace that have no controller. */
  orphans(namespace: string): T[]
}

const indexesByCache = new WeakMap<object, Index<ObjectBase>>()

/** Returns an index of an informer's objects by controller, shared by all loops that use the informer. */
export function byController<T extends ObjectBase>(informer: Informer<T>): ByController<T> {
  const index = (indexesByCache.get(informer) as Index<T> | undefined) ?? informer.index(ownerValue)
  indexesByCache.set(informer, index as unknown as Index<ObjectBase>)
  return {
    controlledBy: (namespace, uid) => index.get(`of ${namespace} ${uid}`),
    orphans: (namespace) => index.get(`orphans ${namespace}`),
  }
}

function ownerValue(object: ObjectBase): string[] {
  const { namespace } = object.metadata
  const owner = controllerOf(object)
  return [owner === undefined ? `orphans ${namespace}` : `of ${namespace} ${owner.uid}`]
}

/** Who controls an object, and the references that say so. */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ObjectBase, OwnerReference } from '../../../api/model/object.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'

/** The reference to the one owner that manages an object. */
export function controllerOf({ metadata: { ownerReferences } }: ObjectBase): OwnerReference | undefined {
  return ownerReferences?.find(({ controller }) => controller === true)
}

export function isControlledBy(object: ObjectBase, { metadata: { uid } }: ObjectBase): boolean {
  return uid !== undefined && controllerOf(object)?.uid === uid
}

/** The reference by which an object names this owner as its controller. */
export function controllerReference({ apiVersion, kind, metadata }: ObjectBase): OwnerReference {
  const { name = '', uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** The key of the controller of an object where it is of this kind; undefined where it is not, or there is none. */
export function controllerKey(object: ObjectBase, { kind, group }: OwnerKind): string | undefined {
  const owner = controllerOf(object)
  if (owner === undefined || owner.kind !== kind || groupOf(owner.apiVersion) !== group) return undefined
  return `${object.metadata.namespace}/${owner.name}`
}

/** A kind of owners: `{ group: 'apps', kind: 'ReplicaSet' }`. */
export interface OwnerKind {
  readonly group: string
  readonly kind: string
}

/** The objects of an informer by their controller. */
export interface ByController<T> {
  /** Those that the owner of this UID controls: an owner is in the namespace of what it controls. */
  controlledBy(namespace: string, uid: string): T[]
  /** Those of a namespace that nobody controls. */
  orphans(namespace: string): T[]
}

const known = new WeakMap<object, Index<ObjectBase>>()

/** The look-up by controller of an informer; all loops that share the informer share it. */
export function byController<T extends ObjectBase>(informer: Informer<T>): ByController<T> {
  const index = (known.get(informer) as Index<T> | undefined) ?? informer.index(ownerValue)
  known.set(informer, index as unknown as Index<ObjectBase>)
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

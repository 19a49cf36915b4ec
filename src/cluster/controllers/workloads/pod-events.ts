/**
 * Maps pod changes to the keys of their owners, and updates the loop's expectations. A new pod fulfills an expected
 * creation. A terminating or missing pod fulfills an expected deletion.
 */

import { sameJson } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ObjectBase } from '../../../api/model/object.ts'
import type { Informer, ObjectChange } from '../../../client/informers/informer.ts'
import { fromInformer, type Source } from '../../../client/reconcile/sources.ts'
import { objectKey } from '../../../client/requests/resource-type.ts'
import type { Expectations } from './expectations.ts'
import { controllerKey, controllerOf, type OwnerKind } from './ownership.ts'
import { isTerminating } from './pod-state.ts'

export interface PodEventParts {
  readonly pods: Informer<Pod>
  readonly ownerKind: OwnerKind
  /**
   * The creates and deletes that the loop expects to observe. Undefined if the pods have fixed names, because repeated
   * writes then fail without harm.
   */
  readonly expectations?: Expectations
  /** Returns the owners that may adopt a pod without a controller. */
  readonly adopters: (pod: Pod) => Iterable<ObjectBase>
}

/** Watches pods for a loop that reconciles their owners. */
export function fromPods(parts: PodEventParts): Source {
  return fromInformer(parts.pods, (change) => {
    if (parts.expectations !== undefined) settle(parts.expectations, change)
    return new Set(keysOf(parts, change))
  })
}

function settle(expectations: Expectations, { previous, object }: ObjectChange<Pod>): void {
  const isNew = previous?.metadata.uid !== object?.metadata.uid
  if (previous !== undefined && isNew) settleDeletion(expectations, previous)
  if (object === undefined) return
  if (isTerminating(object)) settleDeletion(expectations, object)
  const owner = controllerOf(object)
  if (isNew && owner !== undefined) expectations.settleCreation(owner.uid)
}

function settleDeletion(expectations: Expectations, pod: Pod): void {
  const owner = controllerOf(pod)
  if (owner !== undefined) expectations.settleDeletion(owner.uid, pod.metadata.uid ?? '')
}

function keysOf({ ownerKind, adopters }: PodEventParts, { previous, object }: ObjectChange<Pod>): string[] {
  const before = previous && controllerKey(previous, ownerKind)
  const after = object && controllerKey(object, ownerKind)
  const adopting = object !== undefined && mayBeAdopted(object, previous) ? [...adopters(object)].map(objectKey) : []
  return [...(before === undefined ? [] : [before]), ...(after === undefined ? [] : [after]), ...adopting]
}

/**
 * Whether a pod without a controller may be new to its potential owners: it was just created, released or relabeled.
 */
function mayBeAdopted(object: Pod, previous: Pod | undefined): boolean {
  if (controllerOf(object) !== undefined || isTerminating(object)) return false
  return (
    previous === undefined ||
    controllerOf(previous) !== undefined ||
    !sameJson(previous.metadata.labels, object.metadata.labels)
  )
}

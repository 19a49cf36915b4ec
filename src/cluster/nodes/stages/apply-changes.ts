/** Applies the finalizers and patches of a stage to an object, in this order. */
import type { ObjectBase } from '../../../api/model/object.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOf, type ResourceType } from '../../../client/requests/resource-type.ts'
import type { FinalizerChange, Next } from './stage.ts'
import { toPatch } from './stage-patch.ts'
import type { PlaceFunctions } from './template.ts'

/** An object to which a stage is applied. */
export interface ChangedObject<T extends ObjectBase> {
  readonly type: ResourceType<T>
  readonly object: T
  readonly next: Pick<Next, 'finalizers' | 'patches'>
}

/** The clients that write the changes, and the functions of the templates. */
export interface ChangeParts {
  readonly finalizerClient: Client
  /** Returns the client for a patch. If a user is given, the client impersonates that user. */
  readonly patchClient: (impersonates: string | undefined) => Client
  readonly functions: PlaceFunctions
}

/** Applies the changes one after another, and returns the object after the last change. */
export async function applyChanges<T extends ObjectBase>(
  { type, object, next: { finalizers: change, patches } }: ChangedObject<T>,
  { finalizerClient, patchClient, functions }: ChangeParts,
  signal: AbortSignal,
): Promise<T> {
  let current = object
  const finalizers = change && changedFinalizers(object.metadata.finalizers ?? [], change)
  if (finalizers !== undefined) {
    const merge = { metadata: { resourceVersion: object.metadata.resourceVersion, finalizers } }
    current = await finalizerClient.patch(type, nameOf(object), { patch: { merge }, signal })
  }
  for (const each of patches) {
    const patch = toPatch(each, current, functions)
    const subresource = each.subresource === '' ? {} : { subresource: each.subresource }
    current = await patchClient(each.impersonates).patch(type, nameOf(object), { patch, ...subresource, signal })
  }
  return current
}

/** Returns the finalizers after a change, or undefined if the change has no effect. */
function changedFinalizers(present: readonly string[], { add, remove, empty }: FinalizerChange): string[] | undefined {
  const remaining = empty ? [] : present.filter((name) => !remove.includes(name))
  const desired = [...new Set([...remaining, ...add])]
  const isSame = desired.length === present.length && desired.every((name) => present.includes(name))
  return isSame ? undefined : desired
}

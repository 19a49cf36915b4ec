/**
 * delete: in two phases. An object that something waits for (finalizers, or the kind itself) is marked with a
 * deletionTimestamp and stays until the last of them is gone; any other is removed at once.
 */

import type { AdmissionRequest } from '../admission/admission.ts'
import { conflict, notFound, serviceUnavailable } from '../model/api-error.ts'
import { type ApiObject, timestamp } from '../model/object.ts'
import { fromStored } from './conversion.ts'
import { readObject } from './read-stored.ts'
import { keyOf, kindRef, type Resource, readMostRecent } from './resource.ts'
import { commitObject, versionOf, type WriteContext, withVersion } from './write.ts'

export type Propagation = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined
  readonly propagation: Propagation | undefined
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
}

export interface Deleted {
  /** The object as it was last seen: removed, or marked for deletion. */
  readonly object: ApiObject
  readonly removed: boolean
}

const maxAttempts = 100

export async function deleteObject(context: WriteContext, name: string, options: DeleteOptions): Promise<Deleted> {
  const { resource, namespace } = context
  await context.admission.mutate(requestOf(context, name, undefined))
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    await readMostRecent(resource)
    const stored = resource.cache.get(keyOf(resource, namespace, name))
    if (stored === undefined) throw notFound(resource, name)
    const previous = readObject(stored.json)
    const deleted = await attemptDelete(context, previous, stored.revision, options)
    if (deleted !== 'lost') return { ...deleted, object: fromStored(versionOf(context), deleted.object) }
  }
  throw serviceUnavailable(`${resource.plural} "${name}" is changed by too many writers at once; try again`)
}

async function attemptDelete(
  context: WriteContext,
  previous: ApiObject,
  revision: number,
  options: DeleteOptions,
): Promise<Deleted | 'lost'> {
  await context.admission.validate(requestOf(context, previous.metadata.name!, previous))
  assertPreconditions(context.resource, previous, options)
  const marked = mark(context.resource, previous, options)
  if (!mustWait(context.resource, marked)) {
    const object = await removeObject(context, previous, revision)
    return object === undefined ? 'lost' : { object, removed: true }
  }
  if (previous.metadata.deletionTimestamp !== undefined && sameFinalizers(previous, marked))
    return { object: previous, removed: false }
  if (context.dryRun) return { object: marked, removed: false }
  const result = await commitObject(context, marked, revision)
  return result.outcome === 'conflict' ? 'lost' : { object: readObject(result.json), removed: false }
}

function assertPreconditions(
  resource: Resource,
  { metadata }: ApiObject,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const { group, kind } = kindRef(resource)
  const fail = (what: string, wanted: string, found: string | undefined) =>
    conflict(
      { group, plural: kind },
      metadata.name!,
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found}). The object might have been deleted and then recreated`,
    )
  if (uid !== undefined && uid !== metadata.uid) throw fail('UID', uid, metadata.uid)
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw fail('ResourceVersion', resourceVersion, metadata.resourceVersion)
}

/** The object with its deletion begun. */
function mark(resource: Resource, object: ApiObject, options: DeleteOptions): ApiObject {
  const finalizers = withPropagation(object.metadata.finalizers ?? [], options.propagation)
  const { finalizers: _, ...rest } = object.metadata
  const metadata = { ...rest, ...(finalizers.length > 0 ? { finalizers } : {}) }
  if (metadata.deletionTimestamp !== undefined) return { ...object, metadata }
  const marked: ApiObject = {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: timestamp(resource.clock.now()),
      deletionGracePeriodSeconds: 0,
      ...(metadata.generation ? { generation: metadata.generation + 1 } : {}),
    },
  }
  resource.kind.beginDeletion?.(marked)
  return marked
}

/** Dependents are dealt with by the garbage collector, which these two finalizers tell what to do. */
function withPropagation(finalizers: readonly string[], propagation: Propagation | undefined): string[] {
  if (propagation === undefined) return [...finalizers]
  const others = finalizers.filter((name) => name !== 'orphan' && name !== 'foregroundDeletion')
  if (propagation === 'Orphan') return [...others, 'orphan']
  return propagation === 'Foreground' ? [...others, 'foregroundDeletion'] : others
}

export function mustWait(resource: Resource, object: ApiObject): boolean {
  return (object.metadata.finalizers ?? []).length > 0 || resource.kind.holdsDeletion?.(object) === true
}

function sameFinalizers(a: ApiObject, b: ApiObject): boolean {
  return JSON.stringify(a.metadata.finalizers ?? []) === JSON.stringify(b.metadata.finalizers ?? [])
}

/** Takes the object out of the store; undefined when someone else changed it meanwhile. */
export async function removeObject(
  context: WriteContext,
  object: ApiObject,
  revision: number,
): Promise<ApiObject | undefined> {
  const { resource, namespace } = context
  if (context.dryRun) return withVersion(object, revision)
  const result = await resource.store.commit({
    key: keyOf(resource, namespace, object.metadata.name!),
    expected: revision,
    value: undefined,
  })
  return result.outcome === 'conflict' ? undefined : withVersion(object, revision)
}

function requestOf(context: WriteContext, name: string, oldObject: ApiObject | undefined): AdmissionRequest {
  const { resource, namespace, subresource, user, dryRun } = context
  const { group, plural } = resource
  return {
    operation: 'DELETE',
    group,
    plural,
    subresource,
    namespace,
    name,
    user,
    dryRun,
    object: undefined,
    oldObject,
  }
}

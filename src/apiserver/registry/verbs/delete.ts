/**
 * Deletes objects in two phases. An object remains with a deletionTimestamp while it has finalizers or a grace period,
 * or while its kind delays the deletion. All other objects are removed immediately.
 */

import { sameJson } from '../../../api/json/json.ts'
import { conflict, forbiddenError, serviceUnavailable } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, type ObjectMeta, timestamp } from '../../../api/model/object.ts'
import { isSince } from '../../../api/schema/context.ts'
import type { StoredJson } from '../../../api/schema/kind.ts'
import { type Sliced, slicedValue } from '../../../base/concurrency/time-slice.ts'
import { keyOf, notFoundError, type Resource, waitForCaches } from '../catalogue/resource.ts'
import { fromStored } from '../reads/conversion.ts'
import { ConversionFailed, ConversionNotTried } from '../reads/conversion-failed.ts'
import { readObject, readStoredSliced } from '../reads/read-stored.ts'
import { claimsOf } from '../reservations/reservations.ts'
import { admissionRequest } from '../writes/admission-request.ts'
import { changeNote } from '../writes/change-note.ts'
import { purgeOrphanedObjects } from '../writes/purge-orphaned-objects.ts'
import {
  assertInTime,
  commitObject,
  commitTerms,
  failedHalfway,
  maxAttempts,
  prepareContext,
  type Replaced,
  timed,
  versionOf,
  type WriteContext,
  withVersion,
} from '../writes/write.ts'
import { WriteConditions } from '../writes/write-conditions.ts'

export type Propagation = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined
  readonly propagation: Propagation | undefined
  /** Preconditions, all of which must be met. A request can specify preconditions both in its body and in its query. */
  readonly preconditions: readonly Preconditions[]
  /**
   * Throws an error if the store was restored after the list that selected this object (`assertSameLoad`). Undefined
   * unless a list selected the object.
   */
  readonly assertCurrent?: () => void
}

/** Preconditions of a deletion. Absent fields are not checked. */
export interface Preconditions {
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

export interface Deleted {
  /** The last state of the object that was removed or marked for deletion. */
  readonly object: ApiObject
  readonly removed: boolean
  /**
   * Error message if the conversion webhook failed and the object is therefore not in the requested version. Undefined
   * otherwise.
   */
  readonly unshown?: string | undefined
}

/**
 * Deletes an object. If finalizers, a grace period or the kind delay the removal, only marks the object for deletion.
 */
export async function deleteObject(context: WriteContext, name: string, options: DeleteOptions): Promise<Deleted> {
  const { resource, namespace, dryRun, abandoned } = context
  if (dryRun) return await deleteAtOnce(context, name, options)
  const key = keyOf(resource, namespace, name)
  return await resource.writeQueue.take({ key, abandoned }, () => deleteAtOnce(context, name, options))
}

async function deleteAtOnce(context: WriteContext, name: string, options: DeleteOptions): Promise<Deleted> {
  const { resource, namespace } = context
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    await waitForCaches(resource)
    options.assertCurrent?.()
    const stored = resource.cache.get(keyOf(resource, namespace, name))
    if (stored === undefined) return await deleteUnreadable(context, name, options)
    const definitionGuard = await resource.definitionGuard?.('change')
    const previous = await context.timeSlice.run(readHeld(resource, stored))
    const holding = { ...context, resource: heldAs(resource, previous), through: versionOf(context) }
    const deleted = await settled((conditions) => {
      if (definitionGuard !== undefined) conditions.dependOn(definitionGuard)
      return attemptDelete(holding, { previous, revision: stored.revision, conditions }, options)
    })
    if (deleted !== 'lost') return await inRequestedVersion(context, deleted)
  }
  throw serviceUnavailable(`${resource.plural} "${name}" is being changed by too many writers; try again`)
}

/**
 * Reads the object to delete, in its stored version. Calling the conversion webhook would let an unavailable webhook
 * prevent deletions. Deletions need only the metadata, and conversions may change only its labels and annotations.
 */
function* readHeld({ kind }: Resource, stored: StoredJson): Sliced<ApiObject> {
  return kind.evolution?.remote ? readObject(stored.json) : yield* readStoredSliced(kind, stored)
}

/**
 * Returns the resource with the object's own version as the storage version, so that the object is written without
 * calling the conversion webhook.
 */
function heldAs(resource: Resource, { apiVersion }: ApiObject): Resource {
  const { kind } = resource
  if (!kind.evolution?.remote) return resource
  const evolution = {
    ...kind.evolution,
    remote: false,
    storedAs: apiVersion,
    store: (object: ApiObject) => slicedValue({ object, completeFor: undefined }),
    read: slicedValue<ApiObject>,
  }
  return { ...resource, apiVersion, kind: { ...kind, evolution } }
}

/**
 * Converts an object that is now terminating to the requested version. Leaves a removed object in its stored version.
 */
async function inRequestedVersion(context: WriteContext, deleted: Deleted): Promise<Deleted> {
  const { object, removed } = deleted
  const version = versionOf(context)
  const { evolution } = version.kind
  if (!evolution?.remote) return { ...deleted, object: fromStored(version, object) }
  if (removed || context.own) return deleted
  try {
    return { ...deleted, object: await context.timeSlice.run(evolution.read(object)) }
  } catch (error) {
    if (!(error instanceof ConversionFailed || error instanceof ConversionNotTried)) throw error
    return { ...deleted, unshown: error.message }
  }
}

/** Runs one attempt of a deletion, and reports its outcome to the admission plugins. */
async function settled<T extends Deleted | 'lost'>(attempt: (conditions: WriteConditions) => Promise<T>): Promise<T> {
  const conditions = new WriteConditions()
  return await conditions.attempt(
    () => attempt(conditions),
    (deleted) => (deleted === 'lost' ? 'failed' : deleted.removed ? 'removed' : 'stored'),
  )
}

/**
 * Removes a damaged object immediately, because its finalizers are unknown. The same commit releases its reservations,
 * which are found by the object's key. Objects that depend on the damaged object, such as the custom objects of a
 * definition, are removed first. Throws an error if a newer version of the server wrote the object.
 */
async function deleteUnreadable(context: WriteContext, name: string, options: DeleteOptions): Promise<Deleted> {
  const { resource, namespace } = context
  const unreadableEntry = resource.cache.unreadable(keyOf(resource, namespace, name))
  if (unreadableEntry === undefined || unreadableEntry.newer) throw notFoundError(versionOf(context), namespace, name)
  const { apiVersion, kind } = versionOf(context)
  const metadata = { name, ...(namespace === '' ? {} : { namespace }), uid: '' }
  const object: ApiObject = { apiVersion, kind: kind.kind, metadata }
  return await settled(async (conditions) => {
    await admitDeletion(context, object, conditions)
    assertPreconditions(resource, withVersion(object, unreadableEntry.revision), options)
    if (context.dryRun) return { object: withVersion(object, unreadableEntry.revision), removed: true }
    await purgeOrphanedObjects(resource, name, context.timeSlice)
    const { key, revision: expected } = unreadableEntry
    const terms = conditions.termsFor('removed')
    const releases = [...claimsOf(resource, key), ...terms.releases]
    const note = changeNote(context, object, undefined)
    const removal = { key, expected, value: undefined, note, ...terms, releases }
    assertInTime(context)
    const result = await timed(context, 'store', resource.store.commit(removal))
    if (result.outcome === 'conflict') throw conflict(resource, name, 'it was changed in the meantime; try again')
    return { object: withVersion(object, expected), removed: true }
  })
}

interface Attempt {
  /** The object before the deletion, in its stored version. */
  readonly previous: ApiObject
  readonly revision: number
  readonly conditions: WriteConditions
}

async function attemptDelete(
  context: WriteContext,
  attempt: Attempt,
  options: DeleteOptions,
): Promise<Deleted | 'lost'> {
  const { previous, conditions } = attempt
  assertNotPermanent(context.resource, previous)
  await admitDeletion(withGrace(context, previous, options), previous, conditions)
  assertPreconditions(context.resource, previous, options)
  const marked = mark(context, previous, options)
  const waits = mustWait(context.resource, marked) || holdsDeletion(context.resource, previous)
  if (!waits && !context.resource.kind.lifecycle.gracePeriod) return await remove(context, attempt)
  // Store the deletion mark even if nothing delays the removal, because the node agent must see it.
  const stored = await storeMark(context, marked, attempt)
  if (stored === 'lost' || waits) return stored === 'lost' ? 'lost' : { object: stored.object, removed: false }
  const { object, revision } = stored
  return await remove(context, { previous: object, revision, conditions }).catch((error: unknown) => {
    throw failedHalfway(error, 'the deletion was started')
  })
}

/**
 * Returns whether the kind delays the removal of an object that is not marked for deletion. A later deletion or update
 * removes such an object.
 */
function holdsDeletion({ kind }: Resource, { metadata }: ApiObject): boolean {
  return kind.lifecycle.holdsDeletion !== undefined && metadata.deletionTimestamp === undefined
}

function assertNotPermanent(resource: Resource, object: ApiObject): void {
  if (!resource.kind.lifecycle.permanent?.(object)) return
  const { name = '' } = object.metadata
  const full = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
  throw forbiddenError(resource, name, `${full} "${name}" is forbidden: it belongs to the system and cannot be deleted`)
}

async function remove(context: WriteContext, { previous, revision, conditions }: Attempt): Promise<Deleted | 'lost'> {
  const terms = conditions.termsFor('removed')
  const removed = await removeObject(context, previous, { previous, expected: revision, terms })
  if (removed === undefined) return 'lost'
  return { object: withVersion(previous, namesRemoval(context) ? removed.revision : revision), removed: true }
}

/**
 * Returns whether the response contains the revision of the deletion, as the watch event does. Before Kubernetes 1.26,
 * the response contains the object's last revision.
 */
function namesRemoval({ resource }: WriteContext): boolean {
  return isSince('1.26', resource.context)
}

/** Stores the deletion mark. Returns the previous object if it already has the mark. */
async function storeMark(
  context: WriteContext,
  marked: ApiObject,
  { previous, revision, conditions }: Attempt,
): Promise<{ object: ApiObject; revision: number } | 'lost'> {
  if (sameJson(asJson(previous), asJson(marked))) return { object: previous, revision }
  if (context.dryRun) return { object: marked, revision }
  const result = await commitObject(context, marked, {
    previous,
    expected: revision,
    terms: conditions.termsFor('stored'),
  })
  if (result.outcome === 'conflict') return 'lost'
  return { object: withVersion(marked, result.revision), revision: result.revision }
}

/** Throws an error unless the object meets the preconditions. */
export function assertPreconditions(resource: Resource, object: ApiObject, { preconditions }: DeleteOptions): void {
  for (const precondition of preconditions) assertPrecondition(resource, object, precondition)
}

function assertPrecondition(
  resource: Resource,
  { metadata }: ApiObject,
  { uid, resourceVersion }: Preconditions,
): void {
  // As in Kubernetes, error messages name the resource for kinds that delay their deletion, such as Namespace. For all
  // other kinds, error messages name the kind.
  const named = resource.kind.lifecycle.holdsDeletion ? resource : { group: resource.group, plural: resource.kind.kind }
  const fail = (what: string, expectedValue: string, actualValue: string | undefined) =>
    conflict(
      named,
      metadata.name!,
      `the ${what} in the precondition (${expectedValue}) does not match the ${what} in record (${actualValue}). The object might have been deleted and then recreated`,
    )
  if (uid !== undefined && uid !== metadata.uid) throw fail('UID', uid, metadata.uid)
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw fail('ResourceVersion', resourceVersion, metadata.resourceVersion)
}

/** Returns the object with a deletion mark. A marked object whose kind delays the deletion is returned unchanged. */
function mark(context: WriteContext, object: ApiObject, options: DeleteOptions): ApiObject {
  const { resource } = context
  if (object.metadata.deletionTimestamp !== undefined && resource.kind.lifecycle.holdsDeletion?.(object)) return object
  const finalizers = withPropagation(object.metadata.finalizers ?? [], propagationOf(versionOf(context), options))
  const { finalizers: _, ...rest } = object.metadata
  const metadata = { ...rest, ...(finalizers.length > 0 ? { finalizers } : {}) }
  const requested = options.gracePeriodSeconds
  if (metadata.deletionTimestamp !== undefined) return { ...object, metadata: shorten(metadata, requested) }
  const grace = resource.kind.lifecycle.gracePeriod?.(object, requested) ?? 0
  const marked: ApiObject = {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: timestamp(resource.clock.now() + grace * 1000),
      deletionGracePeriodSeconds: grace,
      ...nextGeneration(metadata),
    },
  }
  resource.kind.lifecycle.beginDeletion?.(marked, object, prepareContext(context))
  return marked
}

function propagationOf({ kind }: Resource, { propagation }: DeleteOptions): Propagation | undefined {
  if (kind.lifecycle.ownsNothing) return 'Background'
  return propagation ?? (kind.lifecycle.orphansByDefault ? 'Orphan' : undefined)
}

/**
 * Increments the generation of an object, if it has one. A generation outside of the safe integer range, which only a
 * client can have set, remains unchanged.
 */
function nextGeneration({ generation = 0 }: ObjectMeta): Pick<ObjectMeta, 'generation'> {
  return Number.isSafeInteger(generation) && generation > 0 ? { generation: generation + 1 } : {}
}

/**
 * Shortens a running grace period, but never extends it. The grace period of an object that waits only for finalizers
 * becomes 0.
 */
function shorten(metadata: ObjectMeta, requested: number | undefined): ObjectMeta {
  const { deletionTimestamp: end, deletionGracePeriodSeconds: grace, finalizers = [] } = metadata
  if (grace === undefined && finalizers.length > 0) return { ...metadata, deletionGracePeriodSeconds: 0 }
  if (requested === undefined || end === undefined || grace === undefined || requested >= grace) return metadata
  const deletionTimestamp = timestamp(Date.parse(end) - (grace - requested) * 1000)
  return { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: requested }
}

/**
 * Replaces the finalizers `orphan` and `foregroundDeletion` with the finalizer for the propagation policy. The garbage
 * collector processes these finalizers.
 */
function withPropagation(finalizers: readonly string[], propagation: Propagation | undefined): string[] {
  if (propagation === undefined) return [...finalizers]
  const others = finalizers.filter((name) => name !== 'orphan' && name !== 'foregroundDeletion')
  if (propagation === 'Orphan') return [...others, 'orphan']
  return propagation === 'Foreground' ? [...others, 'foregroundDeletion'] : others
}

/** Returns whether a finalizer, a grace period or the kind delays the removal of a deleted object. */
export function mustWait(resource: Resource, object: ApiObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds: grace = 0 } = object.metadata
  return finalizers.length > 0 || grace > 0 || resource.kind.lifecycle.holdsDeletion?.(object) === true
}

/**
 * Removes the object and its reservations from the store. Returns the revision of the removal, or undefined if another
 * writer has changed the object. A dry run returns the revision of the object.
 */
export async function removeObject(
  context: WriteContext,
  object: ApiObject,
  { previous, expected, terms }: Replaced,
): Promise<{ readonly revision: number } | undefined> {
  const { resource, namespace } = context
  if (context.dryRun) return { revision: expected }
  const key = keyOf(resource, namespace, object.metadata.name!)
  const all = commitTerms(resource, terms, { next: undefined, previous })
  const note = changeNote(context, previous, undefined)
  const removal = { key, expected, value: undefined, note, ...all }
  assertInTime(context)
  const result = await timed(context, 'store', resource.store.commit(removal))
  return result.outcome === 'conflict' ? undefined : result
}

/**
 * Returns the context with the effective grace period in the delete options, as admission plugins see it. An object
 * that is already terminating keeps its grace period.
 */
function withGrace(context: WriteContext, object: ApiObject, options: DeleteOptions): WriteContext {
  const { gracePeriod } = context.resource.kind.lifecycle
  if (gracePeriod === undefined || object.metadata.deletionTimestamp !== undefined) return context
  const gracePeriodSeconds = gracePeriod(object, options.gracePeriodSeconds)
  return { ...context, sentOptions: () => ({ ...context.sentOptions(), gracePeriodSeconds }) }
}

async function admitDeletion(context: WriteContext, oldObject: ApiObject, conditions: WriteConditions): Promise<void> {
  const name = oldObject.metadata.name!
  const request = admissionRequest(context, { operation: 'DELETE', name, object: undefined, oldObject, conditions })
  await timed(context, 'admission', context.admission.mutate(request))
  await timed(context, 'admission', context.admission.validate(request))
}

/**
 * Cleans up a deleted definition: deletes its objects according to the usual deletion rules, and then removes the
 * definition's finalizer. No objects can be created in the meantime, because a create requires a definition that is not
 * terminating. A step keeps no state that a later step needs, so restarts are safe and several servers may run the
 * cleanup concurrently.
 */

import { cleanupFinalizer } from '../../../api/kinds/apiextensions/custom-resource-definition.ts'
import type { CustomResourceDefinition } from '../../../api/kinds/apiextensions/definition-fields.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { type ApiObject, copyWithout } from '../../../api/model/object.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { type RegistryParts, type Resource, serveTogether, waitForCaches } from '../../registry/catalogue/resource.ts'
import { readObject } from '../../registry/reads/read-stored.ts'
import { deleteObject } from '../../registry/verbs/delete.ts'
import { updateObject } from '../../registry/verbs/update.ts'
import { ownWrite } from '../../registry/writes/server-write.ts'
import { openKind } from './definition.ts'

export interface CleanupParts {
  /** The `customresourcedefinitions` resource. */
  readonly resource: Resource
  readonly registry: RegistryParts
  /**
   * Object states in which only finalizers delay the removal. Cached between steps so that the objects are not parsed
   * again.
   */
  readonly waiting: WeakSet<CachedObject>
  /**
   * Throws an error if the store was restored since the definition was read, because the objects may then belong to
   * another definition.
   */
  readonly assertCurrent: () => void
  readonly signal: AbortSignal
}

/**
 * Runs one step of the cleanup of a terminating definition. Returns `later` if finalizers still block the removal of
 * some objects. Calls `onEmpty` when no object is left.
 */
export async function cleanUp(
  parts: CleanupParts,
  definition: CustomResourceDefinition,
  onEmpty: () => void,
): Promise<StepOutcome> {
  const { registry, signal } = parts
  const [objects] = serveTogether([await openKind(definition, registry.vendor)], { parts: registry })
  await registry.caches.fill(objects!.cache)
  await waitForCaches(registry)
  await deleteAll(objects!, parts)
  await waitForCaches(registry)
  if (signal.aborted) return 'later'
  if (!isEmpty(objects!)) {
    callWhenEmpty(objects!, onEmpty)
    return 'later'
  }
  await release(parts, definition)
  return 'done'
}

function isEmpty({ cache }: Resource): boolean {
  return cache.size === 0 && cache.allUnreadable().length === 0
}

function callWhenEmpty(resource: Resource, onEmpty: () => void): void {
  const end = resource.cache.onChange(() => {
    if (!isEmpty(resource)) return
    end()
    onEmpty()
  })
}

/** Number of concurrent deletions. */
const atOnce = 16

async function deleteAll(resource: Resource, parts: CleanupParts): Promise<void> {
  const { waiting, signal } = parts
  const timeSlice = new TimeSlice()
  for (const some of placesIn(resource, (object) => isWaiting(object, waiting))) {
    if (signal.aborted) return
    await Promise.all(some.map((place) => deleteOne(resource, place, parts)))
    await timeSlice.yieldIfDue()
  }
}

/**
 * Whether an object is already marked for deletion, so that only its finalizers delay the cleanup. Caches a positive
 * result.
 */
function isWaiting(object: CachedObject, waiting: WeakSet<CachedObject>): boolean {
  if (waiting.has(object)) return true
  if (!object.json.includes('"deletionTimestamp"')) return false
  const isMarked = readObject(object.json).metadata.deletionTimestamp !== undefined
  if (isMarked) waiting.add(object)
  return isMarked
}

interface Place {
  readonly namespace: string
  readonly name: string
}

function* placesIn({ cache }: Resource, isWaiting: (object: CachedObject) => boolean): Generator<Place[]> {
  for (const slice of cache.slices({ namespace: undefined }))
    for (let i = 0; i < slice.length; i += atOnce)
      yield slice.slice(i, i + atOnce).filter((object) => !isWaiting(object))
  const damaged = cache.allUnreadable()
  for (let i = 0; i < damaged.length; i += atOnce) yield damaged.slice(i, i + atOnce)
}

async function deleteOne(
  resource: Resource,
  { namespace, name }: Place,
  { assertCurrent, signal }: CleanupParts,
): Promise<void> {
  const context = ownWrite(resource, { namespace, optionsKind: 'DeleteOptions', signal })
  const options = { gracePeriodSeconds: undefined, propagation: undefined, preconditions: [], assertCurrent }
  try {
    await deleteObject(context, name, options)
  } catch (error) {
    // Not an error, because another server may have deleted the object already.
    if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error
  }
}

/**
 * Removes the cleanup finalizer from the definition with the given UID. If the definition has no other finalizers, the
 * server then removes the definition.
 */
async function release({ resource, registry, signal }: CleanupParts, { metadata }: CustomResourceDefinition) {
  const own = cleanupFinalizer(registry.vendor)
  const context = ownWrite(resource, { optionsKind: 'UpdateOptions', signal })
  try {
    await updateObject(context, metadata.name!, (previous) => {
      if (previous.metadata.uid !== metadata.uid) return { object: previous, managed: true }
      return { object: without(previous, own), managed: true }
    })
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error
  }
}

function without(object: ApiObject, finalizer: string): ApiObject {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
  const metadata = copyWithout(object.metadata, 'finalizers')
  return { ...object, metadata: { ...metadata, ...(finalizers.length > 0 ? { finalizers } : {}) } }
}

/**
 * Implements update. All changes to existing objects (PUT, PATCH, apply, subresources) use `updateObject`.
 *
 * Writers of the same object are queued (keyed-queue.ts). Each writer reads the object from the cache, computes the
 * next state with `transform`, validates it and commits it. If another server commits first, the write is retried with
 * the new state, or fails with a conflict if the client specified a version. The cache may lag behind other servers. A
 * commit detects an outdated cache. All other responses wait until the cache is up to date.
 */

import { assertOwnCount } from '../../../api/codec/stored.ts'
import { type Json, type JsonObject, own, sameJson } from '../../../api/json/json.ts'
import { isLarge, sameJsonSliced } from '../../../api/json/large-json.ts'
import { ApiError, conflict, invalidObject, serviceUnavailable } from '../../../api/model/api-error.ts'
import { invalid } from '../../../api/model/field-error.ts'
import { type ApiObject, asJson, type ObjectMeta } from '../../../api/model/object.ts'
import { storageMigrator } from '../../../api/model/storage-migration.ts'
import { isSince } from '../../../api/schema/context.ts'
import type { StoredJson } from '../../../api/schema/kind.ts'
import { decodeStoredSliced } from '../../../api/schema/normalize.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, notFoundError, type Resource, waitForCaches } from '../catalogue/resource.ts'
import { fromStored, jsonSliced, writtenJsonSliced } from '../reads/conversion.ts'
import { readStoredSliced } from '../reads/read-stored.ts'
import { namesVersion } from '../writes/metadata.ts'
import {
  asStored,
  commitObject,
  isView,
  maxAttempts,
  unstored,
  versionOf,
  type WriteContext,
  withVersion,
} from '../writes/write.ts'
import { type CommitTerms, WriteConditions } from '../writes/write-conditions.ts'
import { runSteps, withKeptMetadata } from '../writes/write-steps.ts'
import { create } from './create.ts'
import { mustWait, removeObject } from './delete.ts'

/**
 * Computes the next state of an object from its current state. Both states are in the version of the request. The
 * function may be called again with a newer state.
 */
export type Transform = (previous: ApiObject) => Next | Promise<Next>

export interface Next {
  readonly object: ApiObject
  /** Whether managedFields are already up to date. If false, they are computed from the changes. */
  readonly managed: boolean
  /**
   * Whether the client specified the exact version to update. In this case, the client receives a conflict if the
   * object has changed.
   */
  readonly isExactVersion?: boolean | undefined
  /** Additional preconditions and reservations of the commit. */
  readonly terms?: Partial<CommitTerms> | undefined
}

export interface Updated {
  /** The JSON of the stored object. */
  readonly json: Buffer
  readonly created: boolean
}

/** Replaces an object with PUT. Creates the object if it does not exist and the kind allows this. */
export async function update(context: WriteContext, name: string, object: ApiObject): Promise<Updated> {
  const { resource } = context
  const { uid } = object.metadata
  if ((uid || mayCreate(context)) && !(await exists(context, name))) {
    // A late update must not recreate a deleted object. A uid in the request shows that the client has read the object.
    if (uid) throw conflict(resource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: `)
    return await createInstead(context, object)
  }
  const replace = (previous: ApiObject) => {
    assertNamesVersion(context, object)
    assertUid(resource, object, previous)
    return { object, managed: false, isExactVersion: namesVersion(object) }
  }
  // An update that requires an exact version skips the queue, because the version could only become outdated there.
  const change = namesVersion(object) ? updateAtOnce : updateObject
  return { json: await change(context, name, replace), created: false }
}

/**
 * Returns whether the object exists. True even for an unreadable object, which the update then reports as unreadable.
 */
async function exists({ resource, namespace }: WriteContext, name: string): Promise<boolean> {
  const key = keyOf(resource, namespace, name)
  const isThere = () => resource.cache.get(key) !== undefined || resource.cache.unreadable(key) !== undefined
  if (!isThere()) await waitForCaches(resource)
  return isThere()
}

function mayCreate({ resource, subresource }: WriteContext): boolean {
  return subresource === '' && resource.kind.lifecycle.createOnUpdate === true
}

async function createInstead(context: WriteContext, object: ApiObject): Promise<Updated> {
  const { resourceVersion: _, uid: _none, ...metadata } = object.metadata
  await context.assertMayCreate()
  return { json: await create(context, { object: { ...object, metadata }, managed: false }), created: true }
}

/** Updates an object. Returns the JSON of the stored object in the version of the request. */
export async function updateObject(context: WriteContext, name: string, transform: Transform): Promise<Buffer> {
  const { resource, namespace, dryRun, abandoned, timeSlice } = context
  if (dryRun) return await updateAtOnce(context, name, transform)
  const key = keyOf(resource, namespace, name)
  await timeSlice.yieldIfDue()
  return await resource.writeQueue.take({ key, abandoned }, async (waited) => {
    if (waited) await waitForCaches(resource)
    timeSlice.begin()
    return await updateAtOnce(context, name, transform)
  })
}

/**
 * Updates an object like `updateObject`, but skips the queue. Used during the write of another object, where waiting
 * could cause a deadlock.
 */
export async function updateAtOnce(context: WriteContext, name: string, transform: Transform): Promise<Buffer> {
  const { resource, namespace } = context
  const key = keyOf(resource, namespace, name)
  let recent = false
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = resource.cache.get(key)
    const outcome = await tryUpdate(context, name, { stored, transform })
    if (isDone(outcome) || (recent && outcome.result !== 'lost')) return await conclude(context, outcome)
    await waitForCaches(resource)
    await resource.definitionGuard?.('change')
    if (outcome.result !== 'lost' && resource.cache.get(key) === stored) return await conclude(context, outcome)
    recent = true
  }
  throw serviceUnavailable(`${resource.plural} "${name}" is being changed by too many writers; try again`)
}

type Outcome =
  | { readonly result: 'stored'; readonly json: Buffer }
  /** The object was terminating and nothing delayed its removal, so the update removed the object. */
  | { readonly result: 'removed'; readonly json: Buffer }
  /** The update was a dry run, so the object was not stored. */
  | { readonly result: 'judged'; readonly json: Buffer }
  /** The update changed nothing, so the object was not stored. `stored` is the JSON of the stored object. */
  | { readonly result: 'unchanged'; readonly stored: StoredJson }
  | { readonly result: 'refused'; readonly error: ApiError }
  /** Another writer committed first, so the update must be retried. */
  | { readonly result: 'lost' }

type Done = Extract<Outcome, { result: 'stored' | 'removed' }>

function isDone(outcome: Outcome): outcome is Done {
  return outcome.result === 'stored' || outcome.result === 'removed'
}

async function conclude(context: WriteContext, outcome: Exclude<Outcome, { result: 'lost' }>): Promise<Buffer> {
  if (outcome.result === 'refused') throw outcome.error
  const version = versionOf(context)
  return await context.timeSlice.run(
    outcome.result === 'unchanged' ? jsonSliced(version, outcome.stored) : writtenJsonSliced(version, outcome.json),
  )
}

interface Try {
  /** The cached state of the object. Undefined if it does not exist. */
  readonly stored: CachedObject | undefined
  readonly transform: Transform
}

async function tryUpdate(context: WriteContext, name: string, on: Try): Promise<Outcome> {
  try {
    return await updateOnce(context, name, on)
  } catch (error) {
    if (error instanceof ApiError) return { result: 'refused', error }
    throw error
  }
}

async function updateOnce(context: WriteContext, name: string, { stored, transform }: Try): Promise<Outcome> {
  const version = versionOf(context)
  if (stored === undefined) throw notFoundError(version, context.namespace, name)
  const definitionGuard = await context.resource.definitionGuard?.('change')
  await context.timeSlice.yieldIfDue()
  const previous = await context.timeSlice.run(readStoredSliced(context.resource.kind, stored))
  await context.timeSlice.yieldIfDue()
  const next = await transform(fromStored(version, previous))
  const { object, managed, isExactVersion } = next
  await context.timeSlice.yieldIfDue()
  if (!context.own && isLarge(asJson(object))) await context.timeSlice.run(assertOwnCount(object))
  const inStored = await context.timeSlice.run(decodeStoredSliced(version, object, previous))
  const conditions = new WriteConditions()
  for (const guard of [...(definitionGuard ? [definitionGuard] : []), ...(next.terms?.guards ?? [])])
    conditions.dependOn(guard)
  if (next.terms !== undefined) conditions.commitWith('stored', next.terms)
  return await conditions.attempt(
    () => attemptUpdate(context, { previous, next: { object: inStored, managed, isExactVersion }, stored, conditions }),
    (outcome) => (isDone(outcome) ? outcome.result : 'failed'),
  )
}

interface Attempt<N> {
  readonly previous: ApiObject
  readonly next: N
  /** The cached object from which `previous` was parsed. */
  readonly stored: CachedObject
  readonly conditions: WriteConditions
}

async function attemptUpdate(context: WriteContext, attempt: Attempt<Next>): Promise<Outcome> {
  const { previous, next, stored, conditions } = attempt
  const { managed, isExactVersion = false } = next
  if (isExactVersion) assertVersion(context.resource, next.object, previous)
  const sent = withKeptMetadata(context, next.object, previous)
  const object = await runSteps({ write: context, previous, conditions, managed }, sent)
  return await persist(context, { previous, next: object, stored, conditions, isExactVersion })
}

/**
 * Throws an error if the kind requires a resourceVersion and the update has none, or if a patch removes it. Views such
 * as Scale are exempt.
 */
export function assertNamesVersion(context: WriteContext, object: ApiObject): void {
  const { kind, group, plural } = context.resource
  const { resourceVersion, name = '' } = object.metadata
  if (!kind.lifecycle.needsVersion || namesVersion(object) || isView(context)) return
  const fault = invalid('metadata.resourceVersion', resourceVersion, 'must be specified for an update')
  throw invalidObject({ group, kind: plural }, name, [fault])
}

/**
 * Throws an error if the uid in the request differs from that of the stored object. Different uids mean that the object
 * was deleted and created again.
 */
function assertUid(resource: Resource, { metadata }: ApiObject, { metadata: stored }: ApiObject): void {
  if (metadata.uid === undefined || metadata.uid === stored.uid) return
  const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${stored.uid}`
  throw conflict(resource, stored.name!, why)
}

/**
 * Throws an error if the resourceVersion in the request differs from the stored one. Resource versions are compared as
 * opaque strings.
 */
function assertVersion(resource: Resource, next: ApiObject, { metadata }: ApiObject): void {
  if (next.metadata.resourceVersion !== metadata.resourceVersion) throw modified(resource, metadata.name!)
}

function modified(resource: Resource, name: string): ApiError {
  return conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
}

interface Persisting extends Attempt<ApiObject> {
  readonly isExactVersion: boolean
}

async function persist(context: WriteContext, attempt: Persisting): Promise<Outcome> {
  const { previous, next, stored, isExactVersion, conditions } = attempt
  // Even an update that changes nothing removes a terminating object, as a second deletion would.
  if (next.metadata.deletionTimestamp !== undefined && !mustWait(context.resource, next))
    return await remove(context, attempt)
  const terms = conditions.termsFor('stored')
  const keeps = terms.reserves.length + terms.releases.length === 0 && context.fieldManager !== storageMigrator
  if (keeps && (await isUnchanged(context, next, previous))) return { result: 'unchanged', stored }
  await context.timeSlice.yieldIfDue()
  if (context.dryRun) return await judged(context, next, stored)
  const result = await commitObject(context, next, { previous, expected: stored.revision, terms })
  if (result.outcome === 'stored') return { result: 'stored', json: result.json }
  // If the object has not changed, the commit failed because of another precondition, or because a value was reserved
  // in the meantime. Try again.
  if (isExactVersion && result.current?.revision !== stored.revision)
    throw modified(context.resource, next.metadata.name!)
  return { result: 'lost' }
}

/** Returns the result of a dry run, which is the same as the result of a real write. */
async function judged(context: WriteContext, next: ApiObject, { revision }: CachedObject): Promise<Outcome> {
  const { resource, timeSlice } = context
  const ready = await asStored(resource, next, timeSlice)
  return { result: 'judged', json: await unstored(context, ready.object, revision) }
}

/** Removes a terminating object when its last finalizer is removed. */
async function remove(
  context: WriteContext,
  { next, previous, stored, conditions }: Attempt<ApiObject>,
): Promise<Outcome> {
  const terms = conditions.termsFor('removed')
  const removed = await removeObject(context, next, { previous, expected: stored.revision, terms })
  if (removed === undefined) return { result: 'lost' }
  const last = withVersion(next, stored.revision)
  return { result: context.dryRun ? 'judged' : 'removed', json: await unstored(context, last) }
}

/**
 * Returns whether the update changes nothing. Such an update is not stored, and the resourceVersion stays the same.
 * Since Kubernetes 1.24, different times in managedFields do not count as a change.
 */
function isUnchanged(context: WriteContext, next: ApiObject, previous: ApiObject): boolean | Promise<boolean> {
  const ignoresTimes = isSince('1.24', context.resource.context)
  const metadataOf = ({ metadata }: ApiObject) => (ignoresTimes ? withoutTimes(metadata) : metadata) as JsonObject
  const parts = [
    ...pairsOf(asJson(next), asJson(previous), 'metadata'),
    ...pairsOf(metadataOf(next), metadataOf(previous), 'resourceVersion'),
  ]
  return isLarge(asJson(next)) ? context.timeSlice.run(areSame(parts)) : parts.every(([a, b]) => sameJson(a, b))
}

function withoutTimes(metadata: ObjectMeta): ObjectMeta {
  const { managedFields } = metadata
  if (managedFields === undefined) return metadata
  return { ...metadata, managedFields: managedFields.map(({ time: _, ...entry }) => entry) }
}

type Pair = readonly [Json | undefined, Json | undefined]

function* areSame(parts: readonly Pair[]): Generator<void, boolean> {
  for (const [a, b] of parts) if (!(yield* sameJsonSliced(a, b))) return false
  return true
}

/**
 * Pairs the members of two objects by name, except the member `ignored`. A member that one object lacks is paired with
 * undefined.
 */
function pairsOf(a: JsonObject, b: JsonObject, ignored: string): Pair[] {
  const names = Object.keys(a).filter((name) => name !== ignored)
  const added = Object.keys(b).filter((name) => name !== ignored && !Object.hasOwn(a, name))
  return [...names, ...added].map((name) => [own(a, name), own(b, name)])
}

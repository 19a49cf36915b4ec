/**
 * update: every change of an existing object (PUT, PATCH, apply, subresources) goes through `updateObject`.
 *
 * Writers of one object take turns (keyed-queue.ts). Whoever has the turn takes the object from the cache, lets `transform`
 * make the next one, checks and stores it if nobody was faster, on another server; else it starts over from what is
 * there now. A client that named a version gets a conflict instead. The cache may be a little behind other
 * servers: a commit would notice that, and before any other answer the cache is brought up to date.
 */

import { assertOwnCount } from '../../../api/codec/stored.ts'
import { type Json, type JsonObject, own, sameJson } from '../../../api/json/json.ts'
import { isLarge, sameJsonSteps } from '../../../api/json/large-json.ts'
import { ApiError, conflict, invalidObject, serviceUnavailable } from '../../../api/model/api-error.ts'
import { invalid } from '../../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import type { StoredJson } from '../../../api/schema/kind.ts'
import { storedSteps } from '../../../api/schema/normalize.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { keyOf, notFoundError, type Resource, waitForCaches } from '../catalogue/resource.ts'
import { fromStored, jsonSteps, writtenSteps } from '../reads/conversion.ts'
import { readStoredSteps } from '../reads/read-stored.ts'
import { namesVersion } from '../writes/metadata.ts'
import { asStored, commitObject, isView, maxAttempts, unstored, versionOf, type WriteContext } from '../writes/write.ts'
import { type CommitTerms, WriteConditions } from '../writes/write-conditions.ts'
import { runSteps, withKeptMetadata } from '../writes/write-steps.ts'
import { create } from './create.ts'
import { mustWait, removeObject } from './delete.ts'

/**
 * Makes the next object from the present one, both in the version written through. May be called again with a newer.
 */
export type Transform = (previous: ApiObject) => Next | Promise<Next>

export interface Next {
  readonly object: ApiObject
  /** Whether its managedFields say already who owns what; else that is read off the difference. */
  readonly managed: boolean
  /** Whether the client means just the version that the object names: where there is another by now, it is told so. */
  readonly named?: boolean | undefined
  /** What its commit rests on, takes and releases besides. */
  readonly terms?: Partial<CommitTerms> | undefined
}

export interface Updated {
  /** The JSON of what is stored. */
  readonly json: Buffer
  readonly created: boolean
}

/** PUT: the object as sent becomes the object as stored, or is created where the kind allows it. */
export async function update(context: WriteContext, name: string, object: ApiObject): Promise<Updated> {
  const { resource } = context
  const { uid } = object.metadata
  if ((uid || mayCreate(context)) && !(await exists(context, name))) {
    // A late update of an object that is gone does not bring it back: who has read one sends its uid.
    if (uid) throw conflict(resource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: `)
    return await createInstead(context, object)
  }
  const replace = (previous: ApiObject) => {
    assertNamesVersion(context, object)
    assertUid(resource, object, previous)
    return { object, managed: false, named: namesVersion(object) }
  }
  // A client that names a version means that one: waiting could only make it outdated.
  const change = namesVersion(object) ? updateAtOnce : updateObject
  return { json: await change(context, name, replace), created: false }
}

/** Also what cannot be read: that is told of as such. */
async function exists({ resource, namespace }: WriteContext, name: string): Promise<boolean> {
  const key = keyOf(resource, namespace, name)
  const isThere = () => resource.cache.get(key) !== undefined || resource.cache.unreadable(key) !== undefined
  if (!isThere()) await waitForCaches(resource)
  return isThere()
}

function mayCreate({ resource, subresource }: WriteContext): boolean {
  return subresource === '' && resource.kind.life.createOnUpdate === true
}

async function createInstead(context: WriteContext, object: ApiObject): Promise<Updated> {
  const { resourceVersion: _, uid: _none, ...metadata } = object.metadata
  await context.assertMayCreate()
  return { json: await create(context, { object: { ...object, metadata }, managed: false }), created: true }
}

/** Gives the JSON of what is stored, in the version written through. */
export async function updateObject(context: WriteContext, name: string, transform: Transform): Promise<Buffer> {
  const { resource, namespace, dryRun, abandoned, pace } = context
  if (dryRun) return await updateAtOnce(context, name, transform)
  const key = keyOf(resource, namespace, name)
  await pace.yieldIfDue()
  return await resource.turns.take({ key, abandoned }, async (waited) => {
    if (waited) await waitForCaches(resource)
    pace.begin()
    return await updateAtOnce(context, name, transform)
  })
}

/**
 * The same without waiting for those who change the object already: for what is done while another object has its turn,
 * where waiting for a turn could go round in a circle.
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
    await resource.standing?.('change')
    if (outcome.result !== 'lost' && resource.cache.get(key) === stored) return await conclude(context, outcome)
    recent = true
  }
  throw serviceUnavailable(`${resource.plural} "${name}" is changed by too many writers at once; try again`)
}

type Outcome =
  | { readonly result: 'stored'; readonly json: Buffer }
  /** It was being deleted, and nothing held it any more. */
  | { readonly result: 'removed'; readonly json: Buffer }
  /** Nothing was stored, as it was a dry run. */
  | { readonly result: 'judged'; readonly json: Buffer }
  /** There was nothing to change; the JSON is what is stored. */
  | { readonly result: 'unchanged'; readonly stored: StoredJson }
  | { readonly result: 'refused'; readonly error: ApiError }
  /** Somebody was faster. */
  | { readonly result: 'lost' }

type Done = Extract<Outcome, { result: 'stored' | 'removed' }>

function isDone(outcome: Outcome): outcome is Done {
  return outcome.result === 'stored' || outcome.result === 'removed'
}

async function conclude(context: WriteContext, outcome: Exclude<Outcome, { result: 'lost' }>): Promise<Buffer> {
  if (outcome.result === 'refused') throw outcome.error
  const version = versionOf(context)
  return await context.pace.run(
    outcome.result === 'unchanged' ? jsonSteps(version, outcome.stored) : writtenSteps(version, outcome.json),
  )
}

interface Try {
  /** The object as the cache holds it. */
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
  if (stored === undefined) throw notFoundError(context.resource, context.namespace, name)
  const version = versionOf(context)
  const standing = await context.resource.standing?.('change')
  await context.pace.yieldIfDue()
  const previous = await context.pace.run(readStoredSteps(context.resource.kind, stored))
  await context.pace.yieldIfDue()
  const next = await transform(fromStored(version, previous))
  const { object, managed, named } = next
  await context.pace.yieldIfDue()
  if (!context.own && isLarge(asJson(object))) await context.pace.run(assertOwnCount(object))
  const inStored = await context.pace.run(storedSteps(version, object, previous))
  const conditions = new WriteConditions()
  for (const guard of [...(standing ? [standing] : []), ...(next.terms?.guards ?? [])]) conditions.dependOn(guard)
  if (next.terms !== undefined) conditions.commitWith('stored', next.terms)
  return await conditions.attempt(
    () => attemptUpdate(context, { previous, next: { object: inStored, managed, named }, stored, conditions }),
    (outcome) => (isDone(outcome) ? outcome.result : 'failed'),
  )
}

interface Attempt<N> {
  readonly previous: ApiObject
  readonly next: N
  /** `previous` as the cache holds it. */
  readonly stored: CachedObject
  readonly conditions: WriteConditions
}

async function attemptUpdate(context: WriteContext, attempt: Attempt<Next>): Promise<Outcome> {
  const { previous, next, stored, conditions } = attempt
  const { managed, named = false } = next
  if (named) assertVersion(context.resource, next.object, previous)
  const sent = withKeptMetadata(context, next.object, previous)
  const object = await runSteps({ write: context, previous, conditions, managed }, sent)
  return await persist(context, { previous, next: object, stored, conditions, named })
}

/**
 * Where the kind demands it, a write must name the version that it is based on, and a patch may not take that away. What
 * is shown as another kind, such as Scale, is written into whatever there is.
 */
export function assertNamesVersion(context: WriteContext, object: ApiObject): void {
  const { kind, group, plural } = context.resource
  const { resourceVersion, name = '' } = object.metadata
  if (!kind.life.needsVersion || namesVersion(object) || isView(context)) return
  const fault = invalid('metadata.resourceVersion', resourceVersion, 'must be specified for an update')
  throw invalidObject({ group, kind: plural }, name, [fault])
}

/** A uid that is sent says which object is meant: one of the same name may have taken its place. */
function assertUid(resource: Resource, { metadata }: ApiObject, { metadata: stored }: ApiObject): void {
  if (metadata.uid === undefined || metadata.uid === stored.uid) return
  const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${stored.uid}`
  throw conflict(resource, stored.name!, why)
}

/** A version that is sent must be that of the stored object. It is opaque: any other text is a conflict. */
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
  readonly named: boolean
}

async function persist(context: WriteContext, attempt: Persisting): Promise<Outcome> {
  const { previous, next, stored, named, conditions } = attempt
  // Also by an update that changes nothing: a second deletion would do the same.
  if (next.metadata.deletionTimestamp !== undefined && !mustWait(context.resource, next))
    return await remove(context, attempt)
  const terms = conditions.termsFor('stored')
  const keeps = terms.takes.length + terms.releases.length === 0
  if (keeps && (await isUnchanged(next, previous, context.pace))) return { result: 'unchanged', stored }
  await context.pace.yieldIfDue()
  if (context.dryRun) return await judged(context, next, stored)
  const result = await commitObject(context, next, { previous, expected: stored.revision, terms })
  if (result.outcome === 'stored') return { result: 'stored', json: result.json }
  // Where nobody has changed the object, what it rests on has changed, or another holds by now what this was to hold:
  // it is decided again.
  if (named && result.current?.revision !== stored.revision) throw modified(context.resource, next.metadata.name!)
  return { result: 'lost' }
}

/** A dry run answers what a write would have. */
async function judged(context: WriteContext, next: ApiObject, { revision }: CachedObject): Promise<Outcome> {
  const { resource, pace } = context
  const ready = await asStored(resource, next, pace)
  return { result: 'judged', json: await unstored(context, ready.object, revision) }
}

/** The last finalizer of an object that is being deleted has gone: so does the object. */
async function remove(
  context: WriteContext,
  { next, previous, stored, conditions }: Attempt<ApiObject>,
): Promise<Outcome> {
  const terms = conditions.termsFor('removed')
  const removed = await removeObject(context, next, { previous, expected: stored.revision, terms })
  if (removed === undefined) return { result: 'lost' }
  return { result: context.dryRun ? 'judged' : 'removed', json: await unstored(context, removed) }
}

/** A write that changes nothing is not stored: the version stays. */
function isUnchanged(next: ApiObject, previous: ApiObject, pace: TimeSlice): boolean | Promise<boolean> {
  const parts = [
    ...pairsOf(asJson(next), asJson(previous), 'metadata'),
    ...pairsOf(next.metadata as JsonObject, previous.metadata as JsonObject, 'resourceVersion'),
  ]
  return isLarge(asJson(next)) ? pace.run(areSame(parts)) : parts.every(([a, b]) => sameJson(a, b))
}

type Pair = readonly [Json | undefined, Json | undefined]

function* areSame(parts: readonly Pair[]): Generator<void, boolean> {
  for (const [a, b] of parts) if (!(yield* sameJsonSteps(a, b))) return false
  return true
}

/** The members of two objects beside one another, but for one. */
function pairsOf(a: JsonObject, b: JsonObject, ignored: string): Pair[] {
  const names = Object.keys(a).filter((name) => name !== ignored)
  const added = Object.keys(b).filter((name) => name !== ignored && !Object.hasOwn(a, name))
  return [...names, ...added].map((name) => [own(a, name), own(b, name)])
}

/**
 * update: every change of an existing object (PUT, PATCH, apply, subresources) goes through `updateObject`.
 *
 * It reads the stored object, lets `transform` make the next one, checks and stores it if nobody was faster; else it
 * starts over from what is there now. A client that named a version is told of the conflict instead.
 */

import type { AdmissionRequest } from '../admission/admission.ts'
import type { CachedObject } from '../cache/cached-object.ts'
import { type ApiError, conflict, invalidObject, notFound, serviceUnavailable } from '../model/api-error.ts'
import { invalid } from '../model/field-error.ts'
import { type JsonObject, own, sameJson } from '../model/json.ts'
import { type ApiObject, asJson } from '../model/object.ts'
import { formatVersion, parseVersion } from '../model/resource-version.ts'
import { validate } from '../schema/validate.ts'
import { fromStored, jsonOf, toStored } from './conversion.ts'
import { create } from './create.ts'
import { mustWait, removeObject } from './delete.ts'
import { keptMetadata, validateMetadata, validateMetadataUpdate } from './metadata.ts'
import { readObject } from './read-stored.ts'
import { keyOf, kindRef, type Resource, readMostRecent } from './resource.ts'
import { commitObject, prepareContext, unstored, versionOf, type WriteContext, warn, withManagers } from './write.ts'

/** Makes the next object from the present one, both in the version written through. May be called again with a newer. */
export type Transform = (previous: ApiObject) => Next

export interface Next {
  readonly object: ApiObject
  /** Whether its managedFields say already who owns what; else that is read off the difference. */
  readonly managed: boolean
}

export interface Updated {
  /** The JSON of what is stored. */
  readonly json: Buffer
  readonly created: boolean
}

const maxAttempts = 100

/** PUT: the object as sent becomes the object as stored, or is created where the kind allows it. */
export async function update(context: WriteContext, name: string, object: ApiObject): Promise<Updated> {
  const { resource, namespace } = context
  await readMostRecent(resource)
  if (resource.cache.get(keyOf(resource, namespace, name)) === undefined && mayCreate(context))
    return await createInstead(context, object)
  const replace = (previous: ApiObject) => {
    assertNamesVersion(resource, object)
    assertUid(resource, object, previous)
    return { object, managed: false }
  }
  return { json: await updateObject(context, name, replace), created: false }
}

function mayCreate({ resource, subresource }: WriteContext): boolean {
  return subresource === '' && resource.kind.createOnUpdate === true
}

async function createInstead(context: WriteContext, object: ApiObject): Promise<Updated> {
  const { resource } = context
  const { resourceVersion: _, uid, ...metadata } = object.metadata
  if (uid)
    throw conflict(
      resource,
      object.metadata.name ?? '',
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: `,
    )
  return { json: await create(context, { ...object, metadata }), created: true }
}

/** Gives the JSON of what is stored, in the version written through. */
export async function updateObject(context: WriteContext, name: string, transform: Transform): Promise<Buffer> {
  const { resource, namespace } = context
  const version = versionOf(context)
  await readMostRecent(resource)
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = resource.cache.get(keyOf(resource, namespace, name))
    if (stored === undefined) throw notFound(resource, name)
    const previous = readObject(stored.json)
    const { object, managed } = transform(fromStored(version, previous))
    const next = { object: toStored(version, object, previous), managed }
    const outcome = await attemptUpdate(context, { previous, next, stored })
    if (outcome !== 'lost') return jsonOf(version, outcome)
    await readMostRecent(resource)
  }
  throw serviceUnavailable(`${resource.plural} "${name}" is changed by too many writers at once; try again`)
}

interface Attempt<N> {
  readonly previous: ApiObject
  readonly next: N
  /** `previous` as the cache holds it. */
  readonly stored: CachedObject
}

async function attemptUpdate(
  context: WriteContext,
  { previous, next, stored }: Attempt<Next>,
): Promise<Buffer | 'lost'> {
  assertVersion(context.resource, next.object, previous)
  const sent = placed(context, next.object, previous)
  const owned = next.managed ? sent : withManagers(context, previous, sent)
  const admitted = (await context.admission.mutate(requestOf(context, owned, previous))) ?? owned
  const prepared = prepare(context, admitted, previous)
  throwIfInvalid(context, prepared, previous)
  warn(context, prepared, previous)
  await context.admission.validate(requestOf(context, prepared, previous))
  return await persist(context, { previous, next: prepared, stored, named: namesVersion(next.object) })
}

/** Version 0 is any version. */
function namesVersion({ metadata }: ApiObject): boolean {
  return metadata.resourceVersion !== undefined && metadata.resourceVersion !== '0'
}

function assertNamesVersion({ kind, group, plural }: Resource, object: ApiObject): void {
  const { resourceVersion, name = '' } = object.metadata
  if (!kind.needsVersion || namesVersion(object)) return
  const fault = invalid('metadata.resourceVersion', resourceVersion, 'must be specified for an update')
  throw invalidObject({ group, kind: plural }, name, [fault])
}

/** A uid that is sent says which object is meant: one of the same name may have taken its place. */
function assertUid(resource: Resource, { metadata }: ApiObject, { metadata: stored }: ApiObject): void {
  if (metadata.uid === undefined || metadata.uid === stored.uid) return
  const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${stored.uid}`
  throw conflict(resource, stored.name!, why)
}

/** A version that is sent must be that of the stored object. */
function assertVersion(resource: Resource, next: ApiObject, { metadata }: ApiObject): void {
  const { resourceVersion } = next.metadata
  if (resourceVersion === undefined || !namesVersion(next)) return
  if (formatVersion(parseVersion(resourceVersion)) !== metadata.resourceVersion)
    throw modified(resource, metadata.name!)
}

function modified(resource: Resource, name: string): ApiError {
  return conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
}

function placed({ namespace }: WriteContext, next: ApiObject, previous: ApiObject): ApiObject {
  const metadata = keptMetadata(next.metadata, previous.metadata)
  if (namespace === '') delete metadata.namespace
  else metadata.namespace = namespace
  return { ...next, metadata }
}

function prepare(write: WriteContext, next: ApiObject, previous: ApiObject): ApiObject {
  const { resource, subresource } = write
  const prepared = { ...next, metadata: { ...next.metadata } }
  const rules = subresource === '' ? resource.kind : resource.kind.subresources?.[subresource]
  rules?.prepareForUpdate?.(prepared, previous, prepareContext(write))
  return prepared
}

function throwIfInvalid({ resource, subresource }: WriteContext, next: ApiObject, previous: ApiObject): void {
  const context = { ...resource.context, subresource }
  const errors = [
    ...validateMetadata(resource.kind, next.metadata),
    ...validateMetadataUpdate(next.metadata, previous.metadata),
    ...validate(resource.kind.schema, asJson(next), context),
    ...(resource.kind.validate?.(next, context) ?? []),
    ...(resource.kind.validateUpdate?.(next, previous, context) ?? []),
  ]
  if (errors.length > 0) throw invalidObject(kindRef(resource), next.metadata.name ?? '', errors)
}

async function persist(
  context: WriteContext,
  attempt: Attempt<ApiObject> & { named: boolean },
): Promise<Buffer | 'lost'> {
  const { previous, next, stored, named } = attempt
  if (isUnchanged(next, previous)) return stored.json
  if (next.metadata.deletionTimestamp !== undefined && !mustWait(context.resource, next))
    return await remove(context, next, stored)
  if (context.dryRun) return unstored(next, stored.revision)
  const result = await commitObject(context, next, stored.revision)
  if (result.outcome === 'stored') return result.json
  if (named) throw modified(context.resource, next.metadata.name!)
  return 'lost'
}

/** The last finalizer of an object that is being deleted has gone: so does the object. */
async function remove(context: WriteContext, next: ApiObject, { revision }: CachedObject): Promise<Buffer | 'lost'> {
  const removed = await removeObject(context, next, revision)
  return removed === undefined ? 'lost' : unstored(removed)
}

/** A write that changes nothing is not stored: the version stays. */
function isUnchanged(next: ApiObject, previous: ApiObject): boolean {
  return (
    sameMembers(asJson(next), asJson(previous), 'metadata') &&
    sameMembers(next.metadata as JsonObject, previous.metadata as JsonObject, 'resourceVersion')
  )
}

/** Whether two objects are the same but for one member. */
function sameMembers(a: JsonObject, b: JsonObject, ignored: string): boolean {
  for (const key of Object.keys(a)) if (key !== ignored && !sameJson(a[key], own(b, key))) return false
  return Object.keys(b).every((key) => key === ignored || Object.hasOwn(a, key))
}

function requestOf(context: WriteContext, object: ApiObject, oldObject: ApiObject): AdmissionRequest {
  const { resource, namespace, subresource, user, dryRun } = context
  const { group, plural } = resource
  return {
    operation: 'UPDATE',
    group,
    plural,
    subresource,
    namespace,
    name: oldObject.metadata.name ?? '',
    user,
    dryRun,
    object,
    oldObject,
  }
}

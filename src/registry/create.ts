/** create: a new object from a client's, or 409 when the name is taken. */

import type { AdmissionRequest } from '../admission/admission.ts'
import { alreadyExists, badRequest, generateNameTaken, invalidObject, serviceUnavailable } from '../model/api-error.ts'
import type { ApiObject } from '../model/object.ts'
import { asJson } from '../model/object.ts'
import { validate } from '../schema/validate.ts'
import type { Guard } from '../store/store.ts'
import { jsonOf, toStored } from './conversion.ts'
import { generateName, systemMetadata, validateMetadata } from './metadata.ts'
import { keyOf, kindRef, readMostRecent } from './resource.ts'
import {
  commitObject,
  maxAttempts,
  prepareContext,
  unstored,
  versionOf,
  type WriteContext,
  warn,
  withManagers,
} from './write.ts'

/**
 * `object` has been decoded and defaulted; it is the caller's no more. With `managed` its managedFields say already who
 * owns what; else the creator owns all that it sent. Gives the JSON of what is stored, in the version written through.
 */
export async function create(context: WriteContext, object: ApiObject, managed = false): Promise<Buffer> {
  refuseVersion(object)
  const version = versionOf(context)
  return jsonOf(version, await createStored(context, toStored(version, object), managed))
}

/** Whoever decides on it may rest on another object, such as its namespace; when that has changed it is decided anew. */
async function createStored(context: WriteContext, object: ApiObject, managed: boolean): Promise<Buffer> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const created = await createOnce(context, object, managed)
    if (created !== 'unguarded') return created
    await readMostRecent(context.resource)
  }
  throw serviceUnavailable('what the object depends on is changed too often; try again')
}

async function createOnce(context: WriteContext, object: ApiObject, managed: boolean): Promise<Buffer | 'unguarded'> {
  const guards: Guard[] = []
  const named = nameObject(context, object)
  const owned = managed ? named : withManagers(context, context.resource.empty, named)
  await context.pause?.()
  const admitted = (await context.admission.mutate(requestOf(context, owned, guards))) ?? owned
  const prepared = prepare(context, admitted)
  throwIfInvalid(context, prepared)
  warn(context, prepared, undefined)
  await context.pause?.()
  await context.admission.validate(requestOf(context, prepared, guards))
  return context.dryRun ? await checkFree(context, prepared) : await persist(context, prepared, guards)
}

/** A version says which state a write is based on; a new object is based on none. */
function refuseVersion({ metadata }: ApiObject): void {
  if (metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created')
}

function nameObject({ resource, namespace }: WriteContext, object: ApiObject): ApiObject {
  const metadata = { ...object.metadata }
  if (namespace === '') delete metadata.namespace
  else metadata.namespace = namespace
  if (!metadata.name && metadata.generateName) {
    metadata.name = generateName(metadata.generateName)
    const renamed = { ...object, metadata }
    resource.kind.fillDefaults?.(renamed, resource.context)
    return renamed
  }
  return { ...object, metadata }
}

function prepare(write: WriteContext, object: ApiObject): ApiObject {
  const { resource } = write
  const prepared = { ...object, metadata: systemMetadata(object.metadata, resource.time()) }
  resource.kind.prepareForCreate?.(prepared, prepareContext(write))
  return prepared
}

function throwIfInvalid({ resource }: WriteContext, object: ApiObject): void {
  const errors = [
    ...validateMetadata(resource.kind, object.metadata),
    ...validate(resource.kind.schema, asJson(object), resource.context),
    ...(resource.kind.validate?.(object, resource.context) ?? []),
    ...(resource.kind.validateCreate?.(object, resource.context) ?? []),
  ]
  if (errors.length > 0) throw invalidObject(kindRef(resource), object.metadata.name ?? '', errors)
}

async function persist(
  context: WriteContext,
  object: ApiObject,
  guards: readonly Guard[],
): Promise<Buffer | 'unguarded'> {
  const result = await commitObject(context, object, 0, guards)
  if (result.outcome === 'stored') return result.json
  // The name is free, so it was a guard.
  if (result.current === undefined) return 'unguarded'
  throw taken(context, object)
}

async function checkFree(context: WriteContext, object: ApiObject): Promise<Buffer> {
  const { resource, namespace } = context
  await readMostRecent(resource)
  if (resource.cache.get(keyOf(resource, namespace, object.metadata.name!))) throw taken(context, object)
  return unstored(object)
}

function taken({ resource }: WriteContext, { metadata }: ApiObject): Error {
  return metadata.generateName ? generateNameTaken(resource, metadata.name!) : alreadyExists(resource, metadata.name!)
}

function requestOf(
  { resource, namespace, subresource, user, dryRun }: WriteContext,
  object: ApiObject,
  guards: Guard[],
): AdmissionRequest {
  const { group, plural } = resource
  return {
    operation: 'CREATE',
    // A dry run stores nothing, so nothing would be found out.
    restOn: dryRun ? undefined : (guard) => void guards.push(guard),
    group,
    plural,
    subresource,
    namespace,
    name: object.metadata.name ?? '',
    user,
    dryRun,
    object,
    oldObject: undefined,
  }
}

/** create: a new object from a client's, or 409 when the name is taken. */

import { assertCount, assertOwnCount } from '../codec/stored.ts'
import {
  type ApiError,
  alreadyExists,
  badRequest,
  generateNameTaken,
  invalidObject,
  serviceUnavailable,
} from '../model/api-error.ts'
import { generateName } from '../model/generate-name.ts'
import { type ApiObject, asJson } from '../model/object.ts'
import { refillDefaults, storedSteps } from '../schema/complete.ts'
import { validate } from '../schema/validate.ts'
import { type AdmittedWrite, admissionRequest } from './admission-request.ts'
import { allocate } from './claims.ts'
import { writtenJson } from './conversion.ts'
import { namesVersion, systemMetadata, validateMetadata } from './metadata.ts'
import { keyOf, kindRef, readMostRecent } from './resource.ts'
import { Terms } from './terms.ts'
import {
  asStored,
  commitObject,
  findFaults,
  maxAttempts,
  prepareContext,
  unstored,
  versionOf,
  type WriteContext,
  warn,
  withManagers,
} from './write.ts'

export interface NewObject {
  /** Complete (schema/complete.ts); the caller must not use it afterwards. */
  readonly object: ApiObject
  /** Whether its managedFields say already who owns what; else the creator owns all that it sent. */
  readonly managed: boolean
}

/** Gives the JSON of what is stored, in the version written through. */
export async function create(context: WriteContext, { object, managed }: NewObject): Promise<Buffer> {
  refuseVersion(object)
  const version = versionOf(context)
  await context.pace.rest()
  assertOwnCount(object)
  await context.pace.rest()
  const inStored = await context.pace.run(storedSteps(version, object))
  return writtenJson(version, await createStored(context, { object: inStored, managed }))
}

/** How many names are generated for an object before the answer is that they are taken. */
const maxDraws = 8

/**
 * The decision may rest on another object, such as its namespace; when that has changed, everything is decided again.
 * The same happens when a generated name or an address is taken: each attempt draws another.
 */
async function createStored(context: WriteContext, wanted: NewObject): Promise<Buffer> {
  let draws = drawsName(wanted.object) ? maxDraws : 1
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const outcome = await createOnce(context, wanted)
    if (outcome instanceof Buffer) return outcome
    if (outcome === 'unguarded') await readMostRecent(context.resource)
    else if (--draws === 0) throw outcome
  }
  throw serviceUnavailable('what the object depends on is changed too often; try again')
}

/** The JSON of what is stored; or why it is not: what it rests on has changed, or its name is taken. */
type Outcome = Buffer | 'unguarded' | ApiError

async function createOnce(context: WriteContext, wanted: NewObject): Promise<Outcome> {
  const terms = new Terms()
  return await terms.settle(
    () => attemptCreate(context, wanted, terms),
    (outcome) => (outcome instanceof Buffer ? 'stored' : 'failed'),
  )
}

async function attemptCreate(context: WriteContext, { object, managed }: NewObject, terms: Terms): Promise<Outcome> {
  const { resource, dryRun } = context
  // No commit proves that a dry run was judged by what there is.
  if (dryRun && resource.standing !== undefined) await readMostRecent(resource)
  const standing = await resource.standing?.('create')
  if (standing !== undefined && !dryRun) terms.restOn(standing)
  const named = nameObject(context, object)
  const owned = managed ? named : await withManagers(context, context.resource.empty, named)
  await context.pace.rest()
  const drawnFrom = drawsName(object) ? object.metadata.generateName : undefined
  const admitted = (await context.admission.mutate(requestOf(context, owned, { terms, drawnFrom }))) ?? owned
  const prepared = await allocate(context.resource, prepare(context, admitted), undefined)
  await context.pace.rest()
  await throwIfInvalid(context, prepared)
  assertCount(prepared)
  await context.pace.rest()
  warn(context, prepared, undefined)
  await context.pace.rest()
  await context.admission.validate(requestOf(context, prepared, { terms }))
  context.resource.kind.rules.canonicalize?.(prepared)
  await context.pace.rest()
  return context.dryRun ? await checkFree(context, prepared) : await persist(context, prepared, terms)
}

/** A version says which state a write is based on; a new object is based on none. */
function refuseVersion(object: ApiObject): void {
  if (namesVersion(object)) throw badRequest('resourceVersion should not be set on objects to be created')
}

function nameObject({ resource, namespace }: WriteContext, object: ApiObject): ApiObject {
  const metadata = { ...object.metadata }
  if (namespace === '') delete metadata.namespace
  else metadata.namespace = namespace
  if (drawsName(object)) {
    metadata.name = generateName(metadata.generateName!)
    const renamed = { ...object, metadata }
    refillDefaults(resource, renamed)
    return renamed
  }
  return { ...object, metadata }
}

function drawsName({ metadata }: ApiObject): boolean {
  return !metadata.name && !!metadata.generateName
}

function prepare(write: WriteContext, object: ApiObject): ApiObject {
  const { resource } = write
  const prepared = { ...object, metadata: systemMetadata(object.metadata, resource.time()) }
  resource.kind.rules.prepareForCreate?.(prepared, prepareContext(write))
  return prepared
}

async function throwIfInvalid(write: WriteContext, object: ApiObject): Promise<void> {
  const { resource, pace } = write
  const { kind, vendor } = resource
  const { context } = versionOf(write)
  const errors = await findFaults(pace, [
    () => validateMetadata(kind, object.metadata, vendor),
    () => validate(kind.schema, asJson(object), context),
    () => kind.rules.validate?.(object, context),
    () => kind.rules.validateCreate?.(object, context),
  ])
  const judged = [...errors, ...((await kind.rules.judge?.(object, undefined, { ...context, pace })) ?? [])]
  if (judged.length > 0) throw invalidObject(kindRef(resource), object.metadata.name ?? '', judged)
}

async function persist(context: WriteContext, object: ApiObject, { guards }: Terms): Promise<Outcome> {
  const result = await commitObject(context, object, { previous: undefined, expected: 0, guards })
  if (result.outcome === 'stored') return result.json
  // The name is free, so it was a guard, or another holds what this was to hold.
  return result.current === undefined ? 'unguarded' : taken(context, object)
}

async function checkFree(context: WriteContext, object: ApiObject): Promise<Outcome> {
  const { resource, namespace } = context
  await readMostRecent(resource)
  if (resource.cache.get(keyOf(resource, namespace, object.metadata.name!))) return taken(context, object)
  return unstored(resource, asStored(resource, object))
}

function taken({ resource }: WriteContext, { metadata }: ApiObject): ApiError {
  return metadata.generateName ? generateNameTaken(resource, metadata.name!) : alreadyExists(resource, metadata.name!)
}

function requestOf(context: WriteContext, object: ApiObject, asked: Pick<AdmittedWrite, 'terms' | 'drawnFrom'>) {
  const name = object.metadata.name ?? ''
  return admissionRequest(context, { operation: 'CREATE', name, object, oldObject: undefined, ...asked })
}

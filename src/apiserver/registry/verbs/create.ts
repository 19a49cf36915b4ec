/** Implements create, which fails with 409 if an object with the same name exists. */

import { assertOwnCount } from '../../../api/codec/stored.ts'
import { isLarge } from '../../../api/json/large-json.ts'
import {
  type ApiError,
  alreadyExists,
  badRequest,
  generateNameTaken,
  serviceUnavailable,
} from '../../../api/model/api-error.ts'
import { generateName } from '../../../api/model/generate-name.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { decodeStoredSliced, refillDefaults } from '../../../api/schema/normalize.ts'
import { fetchObject, keyOf, waitForCaches } from '../catalogue/resource.ts'
import { writtenJsonSliced } from '../reads/conversion.ts'
import { namesVersion } from '../writes/metadata.ts'
import { asStored, commitObject, maxAttempts, unstored, versionOf, type WriteContext } from '../writes/write.ts'
import { WriteConditions } from '../writes/write-conditions.ts'
import { runSteps } from '../writes/write-steps.ts'

export interface NewObject {
  /** The complete object to create (`api/schema/normalize.ts`). The caller must not use the object after the call. */
  readonly object: ApiObject
  /** Whether managedFields are already set. If false, the creator becomes the owner of all fields in the request. */
  readonly managed: boolean
}

/** Creates an object. Returns the JSON of the stored object in the version of the request. */
export async function create(context: WriteContext, { object, managed }: NewObject): Promise<Buffer> {
  if (!context.dryRun) refuseVersion(object)
  const version = versionOf(context)
  await context.timeSlice.yieldIfDue()
  if (isLarge(asJson(object))) await context.timeSlice.run(assertOwnCount(object))
  const inStored = await context.timeSlice.run(decodeStoredSliced(version, object))
  const json = await createStored(context, { object: inStored, managed })
  return await context.timeSlice.run(writtenJsonSliced(version, json))
}

/** Maximum number of generated names to try before a conflict is reported. */
const maxDraws = 8

/**
 * Stores a new object. The write may depend on another object, such as its namespace. The create starts over if that
 * object changes, or if a generated name or an allocated address is already in use. Each attempt generates new values.
 */
async function createStored(context: WriteContext, newObject: NewObject): Promise<Buffer> {
  let draws = drawsName(newObject.object) ? maxDraws : 1
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const outcome = await createOnce(context, newObject)
    if (outcome instanceof Buffer) return outcome
    if (outcome === 'preconditionFailed') await waitForCaches(context.resource)
    else if (--draws === 0) throw outcome
  }
  throw serviceUnavailable('the objects that this object depends on change too often; try again')
}

/**
 * The result of an attempt: the stored JSON, `preconditionFailed` if the write depends on an object that has changed,
 * or an error if the name is already in use.
 */
type Outcome = Buffer | 'preconditionFailed' | ApiError

async function createOnce(context: WriteContext, newObject: NewObject): Promise<Outcome> {
  const conditions = new WriteConditions()
  return await conditions.attempt(
    () => attemptCreate(context, newObject, conditions),
    (outcome) => (outcome instanceof Buffer ? 'stored' : 'failed'),
  )
}

async function attemptCreate(
  context: WriteContext,
  { object, managed }: NewObject,
  conditions: WriteConditions,
): Promise<Outcome> {
  const { resource, dryRun } = context
  // Wait until the caches are up to date, because a dry run has no commit that would detect an outdated definition.
  if (dryRun && resource.definitionGuard !== undefined) await waitForCaches(resource)
  const definitionGuard = await resource.definitionGuard?.('create', object.metadata.name)
  if (definitionGuard !== undefined && !dryRun) conditions.dependOn(definitionGuard)
  const drawnFrom = drawsName(object) ? object.metadata.generateName : undefined
  const next = await runSteps(
    { write: context, previous: undefined, conditions, managed, drawnFrom },
    nameObject(context, object),
  )
  return dryRun ? await checkFree(context, withSentVersion(next, object)) : await persist(context, next, conditions)
}

/**
 * Throws an error if the object has a resourceVersion. A resourceVersion is a precondition on an existing object and is
 * therefore invalid in a create.
 */
function refuseVersion(object: ApiObject): void {
  if (namesVersion(object)) throw badRequest('resourceVersion should not be set on objects to be created')
}

/** Returns the object with the resourceVersion that the client sent, which Kubernetes also returns for a dry run. */
function withSentVersion(next: ApiObject, { metadata: { resourceVersion } }: ApiObject): ApiObject {
  return resourceVersion === undefined ? next : { ...next, metadata: { ...next.metadata, resourceVersion } }
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

async function persist(context: WriteContext, object: ApiObject, conditions: WriteConditions): Promise<Outcome> {
  const terms = conditions.termsFor('stored')
  const result = await commitObject(context, object, { previous: undefined, expected: 0, terms })
  if (result.outcome === 'stored') return result.json
  // If the name is still free, the commit failed because a precondition was not met or an allocated value was reserved
  // in the meantime.
  return result.current === undefined ? 'preconditionFailed' : nameTakenError(context, object)
}

async function checkFree(context: WriteContext, object: ApiObject): Promise<Outcome> {
  const { resource, namespace, timeSlice } = context
  await fetchObject(resource, keyOf(resource, namespace, object.metadata.name!))
  await waitForCaches(resource)
  if (resource.cache.get(keyOf(resource, namespace, object.metadata.name!))) return nameTakenError(context, object)
  const ready = await asStored(resource, object, timeSlice)
  return await unstored(context, ready.object)
}

function nameTakenError({ resource }: WriteContext, { metadata }: ApiObject): ApiError {
  return metadata.generateName ? generateNameTaken(resource, metadata.name!) : alreadyExists(resource, metadata.name!)
}

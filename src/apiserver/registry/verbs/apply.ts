/**
 * Implements server-side apply, which merges the caller's configuration into the stored object by field ownership and
 * creates the object if it does not exist. An apply that would change a field of another manager fails with a conflict
 * that lists all such fields, unless the caller forces it.
 */

import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { type Applied, applySliced } from '../../../api/merge/apply.ts'
import { applyConflict } from '../../../api/merge/conflicts.ts'
import { ApiError, conflict, notFound, serviceUnavailable } from '../../../api/model/api-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { keyOf, waitForCaches } from '../catalogue/resource.ts'
import { otherVersions } from '../reads/conversion.ts'
import { namesVersion } from '../writes/metadata.ts'
import { maxAttempts, readOnlyFields, versionOf, type WriteContext, writerOf } from '../writes/write.ts'
import { create } from './create.ts'
import { type Updated, updateObject } from './update.ts'

export interface ApplyQuery {
  readonly name: string
  /** The configuration to apply, parsed but not validated. */
  readonly config: Json
  readonly force: boolean
  /** Converts merged JSON to an object of the kind: decoded, with defaults, and checked against the request path. */
  readonly complete: (merged: JsonObject, previous: ApiObject | undefined) => Promise<ApiObject>
}

/** Applies a configuration to an object (server-side apply). */
export async function apply(context: WriteContext, query: ApplyQuery): Promise<Updated> {
  const { resource, namespace } = context
  await waitForCaches(resource)
  let exists = resource.cache.get(keyOf(resource, namespace, query.name)) !== undefined
  if (!exists && context.subresource !== '') throw notFound(resource, query.name)
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    try {
      return await (exists ? applyToExisting : applyNew)(context, query)
    } catch (error) {
      if (!(error instanceof ApiError) || !hasTurned(context, error, exists)) throw error
      if (exists) refuseOther(context, query)
      exists = !exists
    }
  }
  throw serviceUnavailable(`${resource.plural} "${query.name}" is created and deleted too often; try again`)
}

/**
 * Returns whether the object was created or deleted in the meantime, in which case apply must switch between create and
 * update.
 */
function hasTurned({ subresource }: WriteContext, { reason }: ApiError, existed: boolean): boolean {
  return existed ? reason === 'NotFound' && subresource === '' : reason === 'AlreadyExists'
}

/**
 * Rejects a configuration with a uid or resourceVersion if the object does not exist, because the client intends to
 * change an object that has been deleted.
 */
function refuseOther({ resource }: WriteContext, { name, config }: ApplyQuery): void {
  const metadata = isObject(config) ? own(config, 'metadata') : undefined
  const { uid, resourceVersion } = isObject(metadata) ? metadata : {}
  if (uid || (resourceVersion && resourceVersion !== '0'))
    throw conflict(resource, name, 'the object with the uid or resourceVersion in the configuration has been deleted')
}

async function applyNew(context: WriteContext, query: ApplyQuery): Promise<Updated> {
  const object = await merge(context, query, undefined)
  const { resourceVersion: _, uid, ...metadata } = object.metadata
  if (uid)
    throw conflict(
      context.resource,
      query.name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    )
  await context.assertMayCreate()
  return { json: await create(context, { object: { ...object, metadata }, managed: true }), created: true }
}

async function applyToExisting(context: WriteContext, query: ApplyQuery): Promise<Updated> {
  const json = await updateObject(context, query.name, async (previous) => {
    const object = await merge(context, query, previous)
    return { object, managed: true, isExactVersion: namesVersion(object) }
  })
  return { json, created: false }
}

async function merge(context: WriteContext, query: ApplyQuery, live: ApiObject | undefined): Promise<ApiObject> {
  const { config, force, complete } = query
  const { timeSlice } = context
  const version = versionOf(context)
  const { schema, views } = version.kind
  const view = context.resource.kind.views.subresources?.[context.subresource]?.as !== undefined
  const writer = writerOf(context)
  const work = applySliced({
    schema,
    vendor: version.vendor,
    empty: version.empty,
    live,
    config,
    writer: view ? { ...writer, time: undefined } : writer,
    force,
    readOnly: readOnlyFields(context),
    view,
    versions: otherVersions(version),
    emulated: version.context.version,
  })
  await timeSlice.yieldIfDue()
  const applied = await timeSlice.run(work)
  if (applied.outcome === 'conflict')
    throw applyConflict(applied.conflicts, { hideValues: views.redactErrorValues === true })
  await timeSlice.yieldIfDue()
  return withManagers(await complete(applied.object, live), applied)
}

function withManagers(object: ApiObject, { managedFields }: Extract<Applied, { outcome: 'applied' }>): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata
  return {
    ...object,
    metadata: managedFields.length > 0 ? { ...metadata, managedFields: [...managedFields] } : metadata,
  }
}

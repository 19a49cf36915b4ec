/**
 * Creates and updates objects for the server itself. These writes bypass authorization and admission. They change only
 * fields that differ, so that several servers on one store do not keep rewriting each other's objects.
 */

import { type Json, type JsonObject, sameJson } from '../../api/json/json.ts'
import { ApiError } from '../../api/model/api-error.ts'
import type { ObjectName } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { normalizeSliced } from '../../api/schema/normalize.ts'
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { fetchObject, keyOf, type Resource } from '../registry/catalogue/resource.ts'
import { readObject } from '../registry/reads/read-stored.ts'
import { create } from '../registry/verbs/create.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { type OwnWrite, ownWrite } from '../registry/writes/server-write.ts'
import type { WriteContext } from '../registry/writes/write.ts'

/**
 * Creates an object unless it exists. If several servers create the same object at the same time, one succeeds and the
 * others ignore the conflict.
 */
export async function createMissing(resource: Resource, name: ObjectName, rest: JsonObject): Promise<void> {
  await createIn(contextOf(resource, name.namespace, 'CreateOptions'), name.name, rest)
}

/**
 * Creates an object as `createMissing` does, but in the caller's context, so that the caller's admission plugins run.
 */
export async function createIn(context: WriteContext, name: string, rest: JsonObject): Promise<void> {
  const { resource, namespace } = context
  await fetchObject(resource, keyOf(resource, namespace, name))
  const isThere = () => resource.cache.get(keyOf(resource, namespace, name)) !== undefined
  if (isThere()) return
  const { metadata, ...fields } = rest
  const sent = {
    apiVersion: resource.apiVersion,
    kind: resource.kind.kind,
    metadata: { ...(metadata as JsonObject), name },
    ...fields,
  }
  const { object } = runToCompletion(normalizeSliced(resource, sent))
  await create(context, { object, managed: false }).catch((error: unknown) => {
    // Another server may create the same object at the same time. Its reservations then conflict with those of this
    // server until its object is in the cache.
    if (!(error instanceof ApiError) || (error.reason !== 'AlreadyExists' && !isThere())) throw error
  })
}

/** Returns an object from the cache. */
export function getCached(resource: Resource, { namespace, name }: ObjectName): ApiObject | undefined {
  const cached = resource.cache.get(keyOf(resource, namespace, name))
  return cached && readObject(cached.json)
}

/** Sets top-level fields of an object. Does nothing if they already have these values. */
export async function changeFields(
  resource: Resource,
  { namespace, name }: ObjectName,
  fields: JsonObject,
): Promise<void> {
  await fetchObject(resource, keyOf(resource, namespace, name))
  const existing = getCached(resource, { namespace, name })
  // Skip the write if, as is usually the case, nothing would change.
  if (existing !== undefined && hasFields(existing, fields)) return
  const change = (previous: ApiObject) => {
    const { apiVersion, kind, metadata } = previous
    const sent = { ...previous, apiVersion, kind, metadata, ...fields } as unknown as JsonObject
    return { object: runToCompletion(normalizeSliced(resource, sent)).object, managed: false }
  }
  await updateObject(contextOf(resource, namespace, 'UpdateOptions'), name, change)
}

/**
 * Returns whether an object has the given fields. A missing field equals an empty list, because the store may drop
 * empty lists.
 */
function hasFields(object: ApiObject, fields: JsonObject): boolean {
  return Object.entries(fields).every(([field, value]) => sameJson((object[field] ?? []) as Json, value))
}

/** Returns the context for a write that runs to completion even if its caller stops waiting. */
export function contextOf(resource: Resource, namespace: string, optionsKind: OwnWrite['optionsKind']): WriteContext {
  return ownWrite(resource, { namespace, optionsKind, signal: new AbortController().signal })
}

/** Awaits a write to an object that other writers may delete at the same time. Ignores NotFound errors. */
export async function ignoreNotFound(done: Promise<unknown>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error
  })
}

/**
 * Creating and changing objects on the server's own behalf. Such writes bypass authorization and admission, and write
 * nothing where the object is already as it should be, so any number of servers come to rest.
 */

import { type Json, type JsonObject, sameJson } from '../../api/json/json.ts'
import { ApiError } from '../../api/model/api-error.ts'
import type { ObjectName } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { normalizeSteps } from '../../api/schema/normalize.ts'
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { keyOf, type Resource } from '../registry/catalogue/resource.ts'
import { readObject } from '../registry/reads/read-stored.ts'
import { create } from '../registry/verbs/create.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { type OwnWrite, ownWrite } from '../registry/writes/server-write.ts'
import type { WriteContext } from '../registry/writes/write.ts'

/** Creates an object unless there is one of its name. Of several servers that do so at once, one does. */
export async function createMissing(resource: Resource, name: ObjectName, rest: JsonObject): Promise<void> {
  await createIn(contextOf(resource, name.namespace, 'CreateOptions'), name.name, rest)
}

/** The same through a given context: its admission judges the object. */
export async function createIn(context: WriteContext, name: string, rest: JsonObject): Promise<void> {
  const { resource, namespace } = context
  const isThere = () => resource.cache.get(keyOf(resource, namespace, name)) !== undefined
  if (isThere()) return
  const { metadata, ...fields } = rest
  const sent = {
    apiVersion: resource.apiVersion,
    kind: resource.kind.kind,
    metadata: { ...(metadata as JsonObject), name },
    ...fields,
  }
  const { object } = runToCompletion(normalizeSteps(resource, sent))
  await create(context, { object, managed: false }).catch((error: unknown) => {
    // Another server on the same store was faster; then what this one wants to hold may be taken by that very object.
    if (!(error instanceof ApiError) || (error.reason !== 'AlreadyExists' && !isThere())) throw error
  })
}

/** The object of this name as the cache has it. */
export function getCached(resource: Resource, { namespace, name }: ObjectName): ApiObject | undefined {
  const cached = resource.cache.get(keyOf(resource, namespace, name))
  return cached && readObject(cached.json)
}

/** Sets fields of an object; writes nothing where they have these values already. */
export async function changeFields(
  resource: Resource,
  { namespace, name }: ObjectName,
  fields: JsonObject,
): Promise<void> {
  const found = getCached(resource, { namespace, name })
  // So it is at nearly every start, and every few seconds after it.
  if (found !== undefined && hasFields(found, fields)) return
  const change = (previous: ApiObject) => {
    const { apiVersion, kind, metadata } = previous
    const sent = { ...previous, apiVersion, kind, metadata, ...fields } as unknown as JsonObject
    return { object: runToCompletion(normalizeSteps(resource, sent)).object, managed: false }
  }
  await updateObject(contextOf(resource, namespace, 'UpdateOptions'), name, change)
}

/** An empty list may have been stored as none. */
function hasFields(object: ApiObject, fields: JsonObject): boolean {
  return Object.entries(fields).every(([field, value]) => sameJson((object[field] ?? []) as Json, value))
}

/** The context of a write that nobody can abandon. */
export function contextOf(resource: Resource, namespace: string, optionsKind: OwnWrite['optionsKind']): WriteContext {
  return ownWrite(resource, { namespace, optionsKind, signal: new AbortController().signal })
}

/** Waits for a write to an object that somebody else may have deleted: then there is nothing left to do. */
export async function ignoreNotFound(done: Promise<unknown>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error
  })
}

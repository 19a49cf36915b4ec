/** What the server writes itself: nobody is asked for leave, and nothing is admitted but what a control creates. */
import type { Admission } from '../admission/admission.ts'
import type { OwnWrites } from '../admission/own-writes.ts'
import { atOnce } from '../base/pace.ts'
import { ApiError } from '../model/api-error.ts'
import { type Json, type JsonObject, sameJson } from '../model/json.ts'
import type { ObjectName } from '../model/lookup.ts'
import type { ApiObject } from '../model/object.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { create } from '../registry/create.ts'
import { stored } from '../registry/lookup.ts'
import { type OwnWrite, ownWrite } from '../registry/own-write.ts'
import { readObject } from '../registry/read-stored.ts'
import { keyOf, type Resource } from '../registry/resource.ts'
import { updateObject } from '../registry/update.ts'
import type { WriteContext } from '../registry/write.ts'
import { completeSteps } from '../schema/complete.ts'

/** Creates an object unless there is one of its name. Of several servers that do so at once, one does. */
export async function createMissing(resource: Resource, name: ObjectName, rest: JsonObject): Promise<void> {
  await createIn(contextOf(resource, name.namespace, 'CreateOptions'), name.name, rest)
}

async function createIn(context: WriteContext, name: string, rest: JsonObject): Promise<void> {
  const { resource, namespace } = context
  if (resource.cache.get(keyOf(resource, namespace, name)) !== undefined) return
  const { metadata, ...fields } = rest
  const sent = {
    apiVersion: resource.apiVersion,
    kind: resource.kind.kind,
    metadata: { ...(metadata as JsonObject), name },
    ...fields,
  }
  const { object } = atOnce(completeSteps(resource, sent))
  await create(context, { object, managed: false }).catch((error: unknown) => {
    // Another server on the same store was faster.
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error
  })
}

/** The object of this name as it was last heard of. */
export function heardOf(resource: Resource, { namespace, name }: ObjectName): ApiObject | undefined {
  const cached = resource.cache.get(keyOf(resource, namespace, name))
  return cached && readObject(cached.json)
}

/** Gives fields of an object these values; nothing is written where they have them. */
export async function changeFields(
  resource: Resource,
  { namespace, name }: ObjectName,
  fields: JsonObject,
): Promise<void> {
  const found = heardOf(resource, { namespace, name })
  // So it is at nearly every start, and every few seconds after it.
  if (found !== undefined && hasFields(found, fields)) return
  const change = (previous: ApiObject) => {
    const { apiVersion, kind, metadata } = previous
    const sent = { ...previous, apiVersion, kind, metadata, ...fields } as unknown as JsonObject
    return { object: atOnce(completeSteps(resource, sent)).object, managed: false }
  }
  await updateObject(contextOf(resource, namespace, 'UpdateOptions'), name, change)
}

/** An empty list may have been stored as none. */
function hasFields(object: ApiObject, fields: JsonObject): boolean {
  return Object.entries(fields).every(([field, value]) => sameJson((object[field] ?? []) as Json, value))
}

/** What admission controls write of their own. What they create is admitted by the same chain as everything else. */
export function ownWritesIn(catalogue: Catalogue, admission: () => Admission): OwnWrites {
  return {
    createMissing: async (type, { namespace, name }, rest) => {
      const context = contextOf(stored(catalogue, type), namespace, 'CreateOptions')
      await createIn({ ...context, admission: admission() }, name, rest)
    },
    changeStatus: async (type, { namespace, name }, next) => {
      const context = { ...contextOf(stored(catalogue, type), namespace, 'UpdateOptions'), subresource: 'status' }
      await updateObject(context, name, (previous) => ({
        object: { ...previous, status: next(previous) } as ApiObject,
        managed: false,
      }))
    },
  }
}

/** How the server writes what it needs itself, however long that takes. */
export function contextOf(resource: Resource, namespace: string, optionsKind: OwnWrite['optionsKind']): WriteContext {
  return ownWrite(resource, { namespace, optionsKind, signal: new AbortController().signal })
}

/** Where somebody was faster and deleted it there is nothing left to do. */
export async function ifThere(done: Promise<unknown>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error
  })
}

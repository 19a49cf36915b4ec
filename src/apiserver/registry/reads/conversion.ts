/**
 * Objects in the versions that they are read through.
 *
 * A kind is stored in one version. Through that one nothing is converted: reads send the bytes of the cache. Another
 * version is made from the stored one per object and answer, and per event once for all its watchers. All rules see
 * the stored version alone, so whatever comes in is converted before it is judged: that is in api/schema/normalize.ts.
 */

import { jsonDocument } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import type { OtherVersions } from '../../../api/merge/change.ts'
import { internalError } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { decode } from '../../../api/schema/decode.ts'
import { orderOf, type StoredJson } from '../../../api/schema/kind.ts'
import { inStoredForm } from '../../../api/schema/normalize.ts'
import type { Steps, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { type EventForm, type EventType, eventWith, jsonEvents, tellInJson } from '../../../storage/cache/event.ts'
import type { Resource } from '../catalogue/resource.ts'
import { readObject, readStored, readStoredSteps } from './read-stored.ts'

/** A stored object as this version shows it. */
export function fromStored({ kind, apiVersion, vendor }: Resource, object: ApiObject): ApiObject {
  if (kind.conversion === undefined) return object
  return { ...kind.conversion.fromStored(object, vendor), apiVersion }
}

/** An object, given as the JSON of what is stored, as this version shows it; `prepare` has been waited for. */
export function readVersion(resource: Resource, stored: StoredJson): ApiObject {
  return fromStored(resource, readStored((resource.stored ?? resource).kind, stored))
}

/** The same in steps, with nothing to wait for beforehand. */
export function* readVersionSteps(resource: Resource, stored: StoredJson): Steps<ApiObject> {
  return fromStored(resource, yield* readStoredSteps((resource.stored ?? resource).kind, stored))
}

/** The same as JSON: the very bytes where this is the stored version. `prepare` has been waited for. */
export function jsonOf(resource: Resource, stored: StoredJson): Buffer {
  if (resource.stored === undefined) return resource.kind.evolution?.readJson(stored) ?? stored.json
  return jsonDocument(asJson(readVersion(resource, stored)), orderOf(resource.kind))
}

/** The same in steps, with nothing to wait for beforehand. */
export function* jsonSteps(resource: Resource, stored: StoredJson): Steps<Buffer> {
  const { kind } = resource
  if (resource.stored !== undefined)
    return jsonDocument(asJson(yield* readVersionSteps(resource, stored)), orderOf(kind))
  return kind.evolution === undefined ? stored.json : yield* kind.evolution.readSteps(stored)
}

/** Throws where a reader cannot be shown this version, or view, of an object; `prepare` has been waited for. */
export function assertReadable({ kind, stored }: Resource, held: StoredJson): void {
  const { unreadable } = kind.conversion ?? {}
  if (unreadable === undefined || stored === undefined) return
  const why = unreadable(readStored(stored.kind, held))
  if (why !== undefined) throw internalError(why)
}

/** The metadata as it is stored, whichever version is asked for: nobody is asked to convert it. */
export function readMetadata(resource: Resource, stored: StoredJson): ApiObject {
  if (!isRemote(resource)) return readVersion(resource, stored)
  return { ...readObject(stored.json), apiVersion: resource.apiVersion }
}

/** Whether a webhook makes this version from another. */
export function isRemote({ stored, kind }: Resource): boolean {
  return (stored?.kind ?? kind).evolution?.remote === true
}

/**
 * What a write through this version has just stored, as JSON. It was brought up to the definition before it was stored,
 * but for a status that the write took away and that has a default of its own.
 */
export function* writtenSteps(resource: Resource, json: Buffer): Steps<Buffer> {
  const { evolution, schema } = resource.kind
  const isComplete = evolution?.storedAs === resource.apiVersion && schema.fields.status?.default === undefined
  return isComplete ? json : yield* jsonSteps(resource, { json })
}

/** Objects up to here are brought up to their definition at once. */
const largeJson = 64 * 1024

/**
 * Does beforehand what `jsonOf` and `readVersion` would do at once, or could not do as a webhook must be asked; undefined
 * where there is little to do.
 */
export function prepareJson(resource: Resource, stored: StoredJson, pace: TimeSlice): Promise<unknown> | undefined {
  const { evolution } = (resource.stored ?? resource).kind
  if (evolution === undefined) return undefined
  if (!evolution.remote && (resource.stored !== undefined || stored.json.length <= largeJson)) return undefined
  return evolution.remote ? evolution.prepare([stored]) : pace.run(evolution.readSteps(stored))
}

/** Has a webhook convert all that it must convert of these; undefined where there is nothing to wait for. */
export function prepareObjects(resource: Resource, objects: readonly CachedObject[]): Promise<void> | undefined {
  if (!isRemote(resource)) return undefined
  return (resource.stored ?? resource).kind.evolution!.prepare(objects)
}

/** How the events of this version are written. */
export function eventsOf(resource: Resource): EventForm {
  if (isAsStored(resource)) return jsonEvents
  const encode = (type: EventType, object: CachedObject) => eventWith(type, jsonOf(resource, object))
  return { name: `json ${formOf(resource)}`, encode, tell: tellInJson(orderOf(resource.kind)), ...preparing(resource) }
}

/** What a form of events has besides where a webhook must be asked before an event can be written. */
export function preparing(resource: Resource): Pick<EventForm, 'prepare'> {
  return isRemote(resource) ? { prepare: (objects) => prepareObjects(resource, objects) } : {}
}

/** Whether objects are sent as they are stored. */
export function isAsStored({ stored, kind }: Resource): boolean {
  return stored === undefined && kind.evolution === undefined
}

/** Tells apart what objects of one kind look like in its versions, and under its definitions. */
export function formOf({ apiVersion, kind }: Resource): string {
  return kind.evolution === undefined ? apiVersion : `${apiVersion} ${kind.evolution.id}`
}

/** Between any two versions of the kind, for objects as merging sees them: not decoded. Undefined where there is one. */
export function otherVersions({ versions }: Resource): OtherVersions | undefined {
  if (versions.length === 1) return undefined
  const find = (apiVersion: unknown) => versions.find((version) => version.apiVersion === apiVersion)
  return {
    schemaOf: (apiVersion) => find(apiVersion)?.kind.schema,
    *convert(object, apiVersion) {
      return object.apiVersion === apiVersion
        ? object
        : yield* convert(find(object.apiVersion), find(apiVersion)!, object)
    },
  }
}

function* convert(from: Resource | undefined, to: Resource, object: JsonObject): Steps<JsonObject> {
  if (to.kind.evolution !== undefined) return yield* to.kind.evolution.convert(object)
  if (from === undefined) throw new TypeError(`an object in ${object.apiVersion} is none of ${to.plural}`)
  const decoded = asObject(decode(from.kind.schema, object).value)
  return asJson(fromStored(to, inStoredForm(from, decoded)))
}

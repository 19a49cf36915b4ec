/**
 * Objects in the versions that they are read through.
 *
 * A kind is stored in one version. Through that one nothing is converted: reads send the bytes of the cache. Another
 * version is made from the stored one per object and answer, and per event once for all its watchers. All rules see
 * the stored version alone, so whatever comes in is converted before it is judged: that is in schema/normalize.ts.
 */
import type { TimeSlice } from '../base/time-slice.ts'
import type { CachedObject } from '../cache/cached-object.ts'
import { type EventForm, type EventType, eventWith, jsonEvents, tellInJson } from '../cache/event.ts'
import { jsonDocument } from '../codec/json.ts'
import type { InVersion } from '../merge/change.ts'
import type { JsonObject } from '../model/json.ts'
import { type ApiObject, asJson, asObject } from '../model/object.ts'
import { decode } from '../schema/decode.ts'
import { orderOf } from '../schema/kind.ts'
import { inStoredForm } from '../schema/normalize.ts'
import { readStored } from './read-stored.ts'
import type { Resource } from './resource.ts'

/** A stored object as this version shows it. */
export function fromStored({ kind, apiVersion, vendor }: Resource, object: ApiObject): ApiObject {
  if (kind.conversion === undefined) return object
  return { ...kind.conversion.fromStored(object, vendor), apiVersion }
}

/** An object, given as the JSON of what is stored, as this version shows it. */
export function readVersion(resource: Resource, json: Buffer): ApiObject {
  return fromStored(resource, readStored((resource.stored ?? resource).kind, json))
}

/** The same as JSON: the very bytes where this is the stored version. */
export function jsonOf(resource: Resource, json: Buffer): Buffer {
  if (resource.stored === undefined) return resource.kind.evolution?.readJson(json) ?? json
  return jsonDocument(asJson(readVersion(resource, json)), orderOf(resource.kind))
}

/**
 * What a write through this version has just stored, as JSON. It was brought up to the definition before it was stored,
 * but for a status that the write took away and that has a default of its own.
 */
export function writtenJson(resource: Resource, json: Buffer): Buffer {
  const { evolution, schema } = resource.kind
  const isComplete = evolution?.storedAs === resource.apiVersion && schema.fields.status?.default === undefined
  return isComplete ? json : jsonOf(resource, json)
}

/** Objects up to here are brought up to their definition at once. */
const largeJson = 64 * 1024

/** Does beforehand, in steps, what `jsonOf` would do at once; undefined where there is little to do. */
export function prepareJson({ kind, stored }: Resource, json: Buffer, pace: TimeSlice): Promise<unknown> | undefined {
  if (kind.evolution === undefined || stored !== undefined || json.length <= largeJson) return undefined
  return pace.run(kind.evolution.readSteps(json))
}

/** How the events of this version are written. */
export function eventsOf(resource: Resource): EventForm {
  if (isAsStored(resource)) return jsonEvents
  const encode = (type: EventType, { json }: CachedObject) => eventWith(type, jsonOf(resource, json))
  return { name: `json ${formOf(resource)}`, encode, tell: tellInJson(orderOf(resource.kind)) }
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
export function inVersions({ versions }: Resource): InVersion | undefined {
  if (versions.length === 1) return undefined
  const find = (apiVersion: unknown) => versions.find((version) => version.apiVersion === apiVersion)
  return (object, apiVersion) => {
    const from = find(object.apiVersion)
    const to = find(apiVersion)
    if (from === undefined || to === undefined) return undefined
    return { schema: to.kind.schema, object: from === to ? object : convert(from, to, object) }
  }
}

function convert(from: Resource, to: Resource, object: JsonObject): JsonObject {
  // The versions of a custom kind differ in what they know, not in what it is called.
  if (to.kind.evolution !== undefined)
    return asJson(asObject(decode(to.kind.schema, { ...object, apiVersion: to.apiVersion }).value))
  const decoded = asObject(decode(from.kind.schema, object).value)
  return asJson(fromStored(to, inStoredForm(from, decoded)))
}

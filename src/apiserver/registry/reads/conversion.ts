/**
 * Converts stored objects to the requested version.
 *
 * The store contains each kind in one version. A read in that version sends the cached bytes unchanged. A read in
 * another version converts each object. A watch event is converted only once for all watches. Validation and defaulting
 * use only the storage version, because request bodies are converted first (`api/schema/normalize.ts`).
 */

import { jsonDocument, parseOwnSliced } from '../../../api/codec/json.ts'
import { textSliced } from '../../../api/codec/sliced-json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import type { OtherVersions } from '../../../api/merge/change.ts'
import { internalError } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import { decode } from '../../../api/schema/decode.ts'
import { orderOf, type StoredJson } from '../../../api/schema/kind.ts'
import { inStoredForm } from '../../../api/schema/normalize.ts'
import type { Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import {
  type EventForm,
  encodeControlEventInJson,
  eventParts,
  eventWith,
  jsonEvents,
} from '../../../storage/cache/event.ts'
import type { Resource } from '../catalogue/resource.ts'
import type { Served } from '../catalogue/served.ts'
import { readObject, readStored, readStoredSliced } from './read-stored.ts'

/** Converts a stored object to the version of this type. */
export function fromStored({ kind, apiVersion, vendor, context }: Served, object: ApiObject): ApiObject {
  if (kind.conversion === undefined) return object
  return { ...kind.conversion.fromStored(object, vendor, emulationOf(context).version), apiVersion }
}

/**
 * Parses stored JSON and converts it to the version of the resource. The caller must await `prepareJson` or
 * `prepareObjects` first.
 */
export function readVersion(resource: Resource, stored: StoredJson): ApiObject {
  return fromStored(resource, readStored((resource.stored ?? resource).kind, stored))
}

/** Like `readVersion`, but works in steps, and calls the conversion webhook itself if necessary. */
export function* readVersionSliced(resource: Resource, stored: StoredJson): Sliced<ApiObject> {
  return fromStored(resource, yield* readStoredSliced((resource.stored ?? resource).kind, stored))
}

/**
 * Returns the JSON of an object in the version of the resource. For the storage version, this is the stored JSON. The
 * caller must await `prepareJson` or `prepareObjects` first.
 */
export function jsonOf(resource: Resource, stored: StoredJson): Buffer {
  if (resource.stored === undefined) return resource.kind.evolution?.readJson(stored) ?? stored.json
  return jsonDocument(asJson(readVersion(resource, stored)), orderOf(resource.kind))
}

/** Like `jsonOf`, but works in steps, and calls the conversion webhook itself if necessary. */
export function* jsonSliced(resource: Resource, stored: StoredJson): Sliced<Buffer> {
  const { kind } = resource
  if (resource.stored !== undefined) {
    const object = asJson(yield* readVersionSliced(resource, stored))
    return Buffer.from(`${yield* textSliced(object, orderOf(kind))}\n`)
  }
  return kind.evolution === undefined ? stored.json : yield* kind.evolution.readJsonSliced(stored)
}

/**
 * Throws an error if the object cannot be represented in the version or view of this resource. The caller must await
 * `prepareJson` or `prepareObjects` first.
 */
export function assertReadable({ kind, stored }: Resource, held: StoredJson): void {
  const { unreadable } = kind.conversion ?? {}
  if (unreadable === undefined || stored === undefined) return
  const why = unreadable(readStored(stored.kind, held))
  if (why !== undefined) throw internalError(why)
}

/** Reads the metadata of a stored object, which is the same in every version, without calling a conversion webhook. */
export function readMetadata(resource: Resource, stored: StoredJson): ApiObject {
  if (!isRemote(resource)) return readVersion(resource, stored)
  return { ...readObject(stored.json), apiVersion: resource.apiVersion }
}

/** Reads the metadata like `readMetadata`, but yields between steps. */
export function* readMetadataSliced(resource: Resource, stored: StoredJson): Sliced<ApiObject> {
  if (!isRemote(resource)) return yield* readVersionSliced(resource, stored)
  return { ...asObject(yield* parseOwnSliced(stored.json)), apiVersion: resource.apiVersion }
}

/** Returns whether a webhook converts between the versions of this type. */
export function isRemote({ stored, kind }: Resource): boolean {
  return (stored?.kind ?? kind).evolution?.remote === true
}

/**
 * Returns the JSON of an object that has just been written, in the version of the resource. Usually, this is the stored
 * JSON. Defaults are added again only if the status was removed and has a default.
 */
export function* writtenJsonSliced(resource: Resource, json: Buffer): Sliced<Buffer> {
  const { evolution, schema } = resource.kind
  const isComplete = evolution?.storedAs === resource.apiVersion && schema.fields.status?.default === undefined
  return isComplete ? json : yield* jsonSliced(resource, { json })
}

/** Maximum size in bytes of an object that is processed synchronously. */
export const largeJson = 64 * 1024

/**
 * Performs the slow part of `jsonOf` and `readVersion` in advance, for example by calling a conversion webhook. Returns
 * undefined if there is no slow part.
 */
export function prepareJson(
  resource: Resource,
  stored: StoredJson,
  timeSlice: TimeSlice,
): Promise<unknown> | undefined {
  const { evolution } = (resource.stored ?? resource).kind
  if (evolution === undefined) return undefined
  if (!evolution.remote && (resource.stored !== undefined || stored.json.length <= largeJson)) return undefined
  return evolution.remote ? evolution.prepare([stored]) : timeSlice.run(evolution.readJsonSliced(stored))
}

/** Calls the conversion webhook for the objects that need it. Returns undefined if no object needs the webhook. */
export function prepareObjects(resource: Resource, objects: readonly CachedObject[]): Promise<void> | undefined {
  if (!isRemote(resource)) return undefined
  return (resource.stored ?? resource).kind.evolution!.prepare(objects)
}

/** Returns the JSON encoding of watch events in the version of this resource. */
export function eventsOf(resource: Resource): EventForm {
  if (isAsStored(resource)) return jsonEvents
  return {
    name: `json ${formOf(resource)}`,
    encode: (type, object) => eventWith(type, jsonOf(resource, object)),
    *encodeSliced(type, object) {
      return eventWith(type, yield* jsonSliced(resource, object))
    },
    parts: (type, object) => eventParts(type, jsonOf(resource, object)),
    encodeBookmarkOrError: encodeControlEventInJson(orderOf(resource.kind)),
    ...preparing(resource),
  }
}

/**
 * Returns an object with the `prepare` function of an event encoding. The object is empty unless a webhook converts the
 * objects of this type.
 */
export function preparing(resource: Resource): Pick<EventForm, 'prepare'> {
  return isRemote(resource) ? { prepare: (objects) => prepareObjects(resource, objects) } : {}
}

/** Returns whether clients receive the objects of this version exactly as stored. */
export function isAsStored({ stored, kind }: Resource): boolean {
  return stored === undefined && kind.evolution === undefined
}

/**
 * Returns a string that identifies how a type is represented in JSON. The string consists of the API version and, for
 * custom kinds, the ID of the definition.
 */
export function formOf({ apiVersion, kind }: Resource): string {
  return kind.evolution === undefined ? apiVersion : `${apiVersion} ${kind.evolution.id}`
}

/**
 * Returns functions that convert undecoded JSON between the versions of a kind. Merging needs them because field
 * managers can use different versions. Returns undefined if the kind has only one version.
 */
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

function* convert(from: Resource | undefined, to: Resource, object: JsonObject): Sliced<JsonObject> {
  if (to.kind.evolution !== undefined) return yield* to.kind.evolution.convert(object)
  if (from === undefined) throw new TypeError(`cannot convert an object from ${object.apiVersion} to ${to.plural}`)
  const decoded = asObject(decode(from.kind.schema, object).value)
  return asJson(fromStored(to, inStoredForm(from, decoded)))
}

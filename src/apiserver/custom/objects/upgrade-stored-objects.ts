/**
 * Reads the objects of a custom kind in the form that the current definition requires. Definitions change while their
 * objects remain: a stored object may be in another version, have removed fields or lack later defaults. Each state of
 * an object is upgraded once, when it is read, and stored in the new form by the next write. Nearly all objects are
 * already complete for the current schema (schema-id.ts) and are returned unchanged.
 *
 * Without a webhook, conversion changes only the apiVersion. With a webhook, each state of an object is converted once
 * (conversion-cache.ts), and readers wait for the result.
 */

import { jsonDocument, parseOwnSliced } from '../../../api/codec/json.ts'
import { type JsonObject, sameJson } from '../../../api/json/json.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import { fillWithinLimits } from '../../../api/schema/bounded-defaults.ts'
import { decodeSliced } from '../../../api/schema/decode.ts'
import { hasAllDefaults } from '../../../api/schema/defaults.ts'
import type { Evolution, KindNames, ReadyToStore, StoredJson } from '../../../api/schema/kind.ts'
import type { ObjectSchema } from '../../../api/schema/schema.ts'
import { runToCompletion, type Sliced, TimeSlice, waitFor } from '../../../base/concurrency/time-slice.ts'
import { ConversionFailed } from '../../registry/reads/conversion-failed.ts'
import { ConversionCache } from '../conversion/conversion-cache.ts'
import { UpgradedObjectCache } from './upgraded-object-cache.ts'

/**
 * Converts objects to an API version with one webhook call, and returns them in the same order. Throws
 * ConversionFailed.
 */
export type Convert = (objects: readonly JsonObject[], apiVersion: string) => Promise<JsonObject[]>

export interface Evolving {
  readonly names: KindNames
  readonly schema: ObjectSchema
  readonly vendor: Vendor
  /** Identifier of the definition's state, which changes whenever the definition changes. */
  readonly id: string
  /** Identifies the form of objects that are complete for this schema (schema-id.ts). */
  readonly schemaId: string
  /** The reader of the storage version. Undefined if this version is the storage version. */
  readonly storage?: Evolution | undefined
  /** Readers of stored objects, by the version in which the objects are stored. Readers may be added later. */
  readonly versions?: ReadonlyMap<string, Evolution> | undefined
  /** The webhook conversion. Undefined if versions differ only in their schemas. */
  readonly convert?: Convert | undefined
}

export function evolutionOf(evolving: Evolving): Evolution {
  const { id, schemaId, storage, convert } = evolving
  const version = new Version(evolving)
  const own = {
    id,
    schemaId,
    storedAs: storage?.storedAs ?? version.apiVersion,
    read: (object: ApiObject) => version.read(object),
    store: (object: ApiObject) => (storage ?? version).store(object),
    lacksDefaults: (json?: Buffer) => version.lacksDefaults(json),
  }
  if (convert !== undefined) return { ...own, ...remoteForms(version) }
  return {
    ...own,
    remote: false,
    readJson: (stored) => version.readJson(stored),
    readJsonSliced: (stored) => version.readJsonSliced(stored),
    prepare: () => undefined,
    convert: (object) => version.convert(object),
  }
}

/** Returns the methods that read objects through a conversion webhook. These methods replace the synchronous ones. */
function remoteForms(
  version: Version,
): Pick<Evolution, 'remote' | 'readJson' | 'readJsonSliced' | 'prepare' | 'convert'> {
  const converted = new ConversionCache((jsons) => version.convertAll(jsons))
  return {
    remote: true,
    convert: (object) => version.convert(object),
    readJson(stored) {
      const { json } = stored
      if (version.isOwn(json)) return version.readJson(stored)
      const upgraded = converted.get(json)
      if (upgraded === undefined) throw new TypeError('an object was read before the conversion webhook converted it')
      return upgraded
    },
    *readJsonSliced(stored) {
      const { json } = stored
      if (version.isOwn(json)) return yield* version.readJsonSliced(stored)
      return converted.get(json) ?? (yield* waitFor(converted.one(json)))
    },
    prepare(all) {
      const jsons = all.map(({ json }) => json)
      const missing = jsons.filter((json) => !version.isOwn(json) && converted.get(json) === undefined)
      return missing.length === 0 ? undefined : converted.make(missing)
    },
  }
}

/** Reads stored objects as objects of one API version. */
class Version {
  readonly apiVersion: string
  readonly #evolving: Evolving
  /**
   * The JSON prefix of nearly every object of this version. Comparing this prefix is faster than parsing the object.
   */
  readonly #start: Buffer
  readonly #upgraded = new UpgradedObjectCache()
  readonly #lacking = new WeakSet<Buffer>()
  #someLack = false

  constructor(evolving: Evolving) {
    const { vendor, names } = evolving
    this.#evolving = evolving
    this.apiVersion = apiVersionOf(vendor, names.group, names.version)
    this.#start = Buffer.from(`{"apiVersion":${JSON.stringify(this.apiVersion)},`)
  }

  /** Whether an object is stored in the version of this reader. */
  isOwn(json: Buffer): boolean {
    return json.compare(this.#start, 0, this.#start.length, 0, Math.min(this.#start.length, json.length)) === 0
  }

  lacksDefaults(json?: Buffer): boolean {
    return json === undefined ? this.#someLack : this.#lacking.has(json)
  }

  *read(object: ApiObject): Sliced<ApiObject> {
    return (yield* this.#tryRead(object)).value
  }

  /**
   * Prepares an object for storage by converting it to this version. An object that has all defaults is stored as
   * complete for its schema, so that reads need not upgrade it.
   */
  *store(object: ApiObject): Sliced<ReadyToStore> {
    const { schema, schemaId } = this.#evolving
    const isOwn = object.apiVersion === this.apiVersion
    if (isOwn && hasAllDefaults(schema, asJson(object))) return { object, completeFor: schemaId }
    const { value } = yield* this.#tryRead(object)
    return { object: value, completeFor: hasAllDefaults(schema, asJson(value)) ? schemaId : undefined }
  }

  readJson(stored: StoredJson): Buffer {
    const { json, completeFor } = stored
    if (completeFor === this.#evolving.schemaId) return json
    return this.#upgraded.get(json) ?? runToCompletion(this.readJsonSliced(stored))
  }

  *readJsonSliced({ json, completeFor }: StoredJson): Sliced<Buffer> {
    if (completeFor === this.#evolving.schemaId) return json
    const before = this.#upgraded.get(json)
    if (before !== undefined) return before
    const stored = asObject(yield* parseOwnSliced(json))
    yield
    const { value: object, lacksDefaults } = yield* this.#tryRead(stored)
    yield
    if (lacksDefaults) {
      this.#lacking.add(json)
      this.#someLack = true
    }
    const same = sameJson(asJson(stored), asJson(object))
    yield
    const shown = same ? json : jsonDocument(asJson(object))
    this.#upgraded.set(json, shown)
    return shown
  }

  /** Converts stored objects of other versions to JSON of this version in one call. */
  async convertAll(jsons: readonly Buffer[]): Promise<Buffer[]> {
    const timeSlice = new TimeSlice()
    const sources: JsonObject[] = []
    for (const json of jsons) {
      const stored = asObject(await timeSlice.run(parseOwnSliced(json)))
      sources.push(asJson(await timeSlice.run(this.#source(stored))))
    }
    const converted = await this.#ask(sources)
    const shown: Buffer[] = []
    for (const object of converted) {
      shown.push(jsonDocument(asJson(await timeSlice.run(soundly(this.#evolving.schema, asObject(object))))))
      await timeSlice.yieldIfDue()
    }
    return shown
  }

  *convert(object: JsonObject): Sliced<JsonObject> {
    const { schema, convert } = this.#evolving
    const [source] = convert === undefined ? [object] : yield* waitFor(this.#ask([object]))
    return asJson(asObject((yield* decodeSliced(schema, { ...source!, apiVersion: this.apiVersion })).value))
  }

  /**
   * Converts objects to this version with one webhook call. Objects that are already in this version are returned
   * unchanged.
   */
  async #ask(objects: readonly JsonObject[]): Promise<JsonObject[]> {
    const others = objects.filter(({ apiVersion }) => apiVersion !== this.apiVersion)
    if (others.length === 0) return [...objects]
    const converted = (await this.#evolving.convert!(others, this.apiVersion)).values()
    return objects.map((object) => (object.apiVersion === this.apiVersion ? object : converted.next().value!))
  }

  *#tryRead(object: ApiObject): Sliced<{ value: ApiObject; lacksDefaults: boolean }> {
    const { schema, vendor } = this.#evolving
    if (object.apiVersion !== this.apiVersion) return { value: yield* this.#fromOther(object), lacksDefaults: false }
    const value = yield* soundly(schema, object)
    yield
    const fault = yield* fillWithinLimits(schema, asJson(value), { vendor, subresource: '' })
    // Returns the stored object without defaults if they would make it too large, because a stored object must remain
    // readable.
    return fault === undefined
      ? { value, lacksDefaults: false }
      : { value: yield* soundly(schema, object), lacksDefaults: true }
  }

  /** Adds the defaults of the version in which an object was written, and then converts the object. */
  *#fromOther(object: ApiObject): Sliced<ApiObject> {
    const source = yield* this.#source(object)
    const { schema, convert } = this.#evolving
    const [converted] = convert === undefined ? [source] : yield* waitFor(this.#ask([asJson(source)]))
    return yield* soundly(schema, asObject({ ...asJson(converted as ApiObject), apiVersion: this.apiVersion }))
  }

  /** Upgrades an object to the current schema of the version that it was written in. */
  *#source(object: ApiObject): Sliced<ApiObject> {
    const { versions, convert } = this.#evolving
    const written = versions?.get(object.apiVersion)
    if (written !== undefined) return yield* written.read(object)
    if (convert === undefined) return object
    throw new ConversionFailed(`request to convert CR from an invalid group/version: ${object.apiVersion}`)
  }
}

/**
 * Drops fields of the wrong type from an object that cannot be decoded. Such objects may have been stored before the
 * schema changed, and must remain readable.
 */
function* soundly(schema: ObjectSchema, object: ApiObject): Generator<void, ApiObject> {
  try {
    return asObject((yield* decodeSliced(schema, asJson(object))).value)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return structuredClone(object)
  }
}

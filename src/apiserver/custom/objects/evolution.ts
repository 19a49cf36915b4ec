/**
 * Objects of a custom kind as its definition has them now. A definition changes while its objects stay, so what is
 * stored may be of another version, have fields that are not known any more, or lack defaults that came later. It is
 * brought up when it is read, once for each state of an object, and stored so when it is next written. What was complete
 * for the very schema that it is read by (schema-id.ts), as nearly all objects are, is shown as it is stored.
 *
 * From one version to another only the name of the version changes, or a webhook makes the one from the other: then what
 * it makes of each state of an object is asked for once (converted-forms.ts), and readers wait for that.
 */

import { jsonDocument, parseOwnSteps } from '../../../api/codec/json.ts'
import { type JsonObject, sameJson } from '../../../api/json/json.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import { fillWithinLimits } from '../../../api/schema/bounded-defaults.ts'
import { decodeSteps } from '../../../api/schema/decode.ts'
import { hasAllDefaults } from '../../../api/schema/defaults.ts'
import type { Evolution, KindNames, ReadyToStore, StoredJson } from '../../../api/schema/kind.ts'
import type { ObjectSchema } from '../../../api/schema/schema.ts'
import { runToCompletion, type Steps, TimeSlice, waitFor } from '../../../base/concurrency/time-slice.ts'
import { ConversionFailed } from '../../registry/reads/conversion-failed.ts'
import { ConvertedForms } from '../conversion/converted-forms.ts'
import { ShownForms } from './shown-forms.ts'

/** Makes objects of one version from those of others: all in one call, in the same order. Throws ConversionFailed. */
export type Convert = (objects: readonly JsonObject[], apiVersion: string) => Promise<JsonObject[]>

export interface Evolving {
  readonly names: KindNames
  readonly schema: ObjectSchema
  readonly vendor: Vendor
  /** Differs wherever the definition does. */
  readonly id: string
  /** Differs wherever the schema does, or how it is read (schema-id.ts). */
  readonly schemaId: string
  /** Of the version that objects are stored in, where that is another one. */
  readonly storage?: Evolution | undefined
  /** Of all versions of the kind, by their `apiVersion`. It may be filled after this one is made. */
  readonly versions?: ReadonlyMap<string, Evolution> | undefined
  /** Undefined: the versions differ in what they know, not in what it is called. */
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
    readSteps: (stored) => version.readSteps(stored),
    prepare: () => undefined,
    convert: (object) => version.convert(object),
  }
}

/** The same where a webhook makes this version from others. */
function remoteForms(version: Version): Pick<Evolution, 'remote' | 'readJson' | 'readSteps' | 'prepare' | 'convert'> {
  const converted = new ConvertedForms((jsons) => version.convertAll(jsons))
  return {
    remote: true,
    convert: (object) => version.convert(object),
    readJson(stored) {
      const { json } = stored
      if (version.isOwn(json)) return version.readJson(stored)
      const known = converted.get(json)
      if (known === undefined) throw new TypeError('an object is read that no webhook has converted yet')
      return known
    },
    *readSteps(stored) {
      const { json } = stored
      if (version.isOwn(json)) return yield* version.readSteps(stored)
      return converted.get(json) ?? (yield* waitFor(converted.one(json)))
    },
    prepare(all) {
      const jsons = all.map(({ json }) => json)
      const missing = jsons.filter((json) => !version.isOwn(json) && converted.get(json) === undefined)
      return missing.length === 0 ? undefined : converted.make(missing)
    },
  }
}

/** One version of a kind. */
class Version {
  readonly apiVersion: string
  readonly #evolving: Evolving
  /** How most objects of this version begin. */
  readonly #start: Buffer
  readonly #known = new ShownForms()
  readonly #lacking = new WeakSet<Buffer>()
  #someLack = false

  constructor(evolving: Evolving) {
    const { vendor, names } = evolving
    this.#evolving = evolving
    this.apiVersion = apiVersionOf(vendor, names.group, names.version)
    this.#start = Buffer.from(`{"apiVersion":${JSON.stringify(this.apiVersion)},`)
  }

  /** Whether an object is stored in this version. */
  isOwn(json: Buffer): boolean {
    return json.compare(this.#start, 0, this.#start.length, 0, Math.min(this.#start.length, json.length)) === 0
  }

  lacksDefaults(json?: Buffer): boolean {
    return json === undefined ? this.#someLack : this.#lacking.has(json)
  }

  *read(object: ApiObject): Steps<ApiObject> {
    return (yield* this.#tryRead(object)).value
  }

  /** What was written through this version is complete by then, but for defaults that the write itself has removed. */
  *store(object: ApiObject): Steps<ReadyToStore> {
    const { schema, schemaId } = this.#evolving
    const isOwn = object.apiVersion === this.apiVersion
    if (isOwn && hasAllDefaults(schema, asJson(object))) return { object, completeFor: schemaId }
    const { value } = yield* this.#tryRead(object)
    return { object: value, completeFor: hasAllDefaults(schema, asJson(value)) ? schemaId : undefined }
  }

  readJson(stored: StoredJson): Buffer {
    const { json, completeFor } = stored
    if (completeFor === this.#evolving.schemaId) return json
    return this.#known.get(json) ?? runToCompletion(this.readSteps(stored))
  }

  *readSteps({ json, completeFor }: StoredJson): Steps<Buffer> {
    if (completeFor === this.#evolving.schemaId) return json
    const before = this.#known.get(json)
    if (before !== undefined) return before
    const stored = asObject(yield* parseOwnSteps(json))
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
    this.#known.set(json, shown)
    return shown
  }

  /** Stored objects of other versions as JSON of this one, all by one call. */
  async convertAll(jsons: readonly Buffer[]): Promise<Buffer[]> {
    const pace = new TimeSlice()
    const sources: JsonObject[] = []
    for (const json of jsons) {
      const stored = asObject(await pace.run(parseOwnSteps(json)))
      sources.push(asJson(await pace.run(this.#source(stored))))
    }
    const converted = await this.#ask(sources)
    const shown: Buffer[] = []
    for (const object of converted) {
      shown.push(jsonDocument(asJson(await pace.run(soundly(this.#evolving.schema, asObject(object))))))
      await pace.yieldIfDue()
    }
    return shown
  }

  *convert(object: JsonObject): Steps<JsonObject> {
    const { schema, convert } = this.#evolving
    const [source] = convert === undefined ? [object] : yield* waitFor(this.#ask([object]))
    return asJson(asObject((yield* decodeSteps(schema, { ...source!, apiVersion: this.apiVersion })).value))
  }

  /** Those that are of this version already are not asked about. */
  async #ask(objects: readonly JsonObject[]): Promise<JsonObject[]> {
    const others = objects.filter(({ apiVersion }) => apiVersion !== this.apiVersion)
    if (others.length === 0) return [...objects]
    const converted = (await this.#evolving.convert!(others, this.apiVersion)).values()
    return objects.map((object) => (object.apiVersion === this.apiVersion ? object : converted.next().value!))
  }

  *#tryRead(object: ApiObject): Steps<{ value: ApiObject; lacksDefaults: boolean }> {
    const { schema, vendor } = this.#evolving
    if (object.apiVersion !== this.apiVersion) return { value: yield* this.#fromOther(object), lacksDefaults: false }
    const value = yield* soundly(schema, object)
    yield
    const fault = yield* fillWithinLimits(schema, asJson(value), { vendor, subresource: '' })
    // What was stored must still be read: as it is, where its defaults would make it too large.
    return fault === undefined
      ? { value, lacksDefaults: false }
      : { value: yield* soundly(schema, object), lacksDefaults: true }
  }

  /** Defaults are those of the version that an object was written in: no other adds its own. */
  *#fromOther(object: ApiObject): Steps<ApiObject> {
    const source = yield* this.#source(object)
    const { schema, convert } = this.#evolving
    const [converted] = convert === undefined ? [source] : yield* waitFor(this.#ask([asJson(source)]))
    return yield* soundly(schema, asObject({ ...asJson(converted as ApiObject), apiVersion: this.apiVersion }))
  }

  /** An object as the version has it in which it was written. */
  *#source(object: ApiObject): Steps<ApiObject> {
    const { versions, convert } = this.#evolving
    const written = versions?.get(object.apiVersion)
    if (written !== undefined) return yield* written.read(object)
    if (convert === undefined) return object
    throw new ConversionFailed(`request to convert CR from an invalid group/version: ${object.apiVersion}`)
  }
}

/** Fields of a wrong type are for validation to refuse; what was stored before must still be read. */
function* soundly(schema: ObjectSchema, object: ApiObject): Generator<void, ApiObject> {
  try {
    return asObject((yield* decodeSteps(schema, asJson(object))).value)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return structuredClone(object)
  }
}

/**
 * Objects of a custom kind as its definition has them now. A definition changes while its objects stay, so what is
 * stored may be of another version, have fields that are not known any more, or lack defaults that came later. It is
 * brought up when it is read, once for each state of an object, and stored so when it is next written.
 */
import { runToCompletion } from '../base/time-slice.ts'
import { jsonDocument, parseOwnSteps } from '../codec/json.ts'
import { ApiError } from '../model/api-error.ts'
import { sameJson } from '../model/json.ts'
import { type ApiObject, asJson, asObject } from '../model/object.ts'
import { apiVersionOf, type Vendor } from '../model/vendor.ts'
import { fillWithinLimits } from '../schema/bounded-defaults.ts'
import { decode } from '../schema/decode.ts'
import type { Evolution, KindNames } from '../schema/kind.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { ShownForms } from './shown-forms.ts'

export interface Evolving {
  readonly names: KindNames
  readonly schema: ObjectSchema
  readonly vendor: Vendor
  /** Differs wherever the definition does. */
  readonly id: string
  /** Of the version that objects are stored in, where that is another one. */
  readonly storage?: Evolution | undefined
  /** Of all versions of the kind, by their `apiVersion`. It may be filled after this one is made. */
  readonly versions?: ReadonlyMap<string, Evolution> | undefined
}

export function evolutionOf({ names, schema, vendor, id, storage, versions }: Evolving): Evolution {
  const apiVersion = apiVersionOf(vendor, names.group, names.version)
  // Defaults are those of the version that an object was written in: no other adds its own.
  const tryRead = (object: ApiObject): { value: ApiObject; lacksDefaults: boolean } => {
    const { apiVersion: written } = object
    if (written !== apiVersion) {
      const source = versions?.get(written)?.read(object) ?? object
      return { value: soundly(schema, { ...source, apiVersion }), lacksDefaults: false }
    }
    const value = soundly(schema, object)
    const fault = fillWithinLimits(schema, asJson(value), { vendor, subresource: '' })
    // What was stored must still be read: as it is, where its defaults would make it too large.
    return fault === undefined
      ? { value, lacksDefaults: false }
      : { value: soundly(schema, object), lacksDefaults: true }
  }
  const read = (object: ApiObject): ApiObject => tryRead(object).value
  const known = new ShownForms()
  const lacking = new WeakSet<Buffer>()
  let someLack = false
  const readSteps = function* (json: Buffer): Generator<void, Buffer> {
    const before = known.get(json)
    if (before !== undefined) return before
    const stored = asObject(yield* parseOwnSteps(json))
    yield
    const { value: object, lacksDefaults } = tryRead(stored)
    yield
    if (lacksDefaults) {
      lacking.add(json)
      someLack = true
    }
    const same = sameJson(asJson(stored), asJson(object))
    yield
    const shown = same ? json : jsonDocument(asJson(object))
    known.set(json, shown)
    return shown
  }
  const readJson = (json: Buffer): Buffer => known.get(json) ?? runToCompletion(readSteps(json))
  const store = storage === undefined ? (object: ApiObject) => object : storage.read
  const lacksDefaults = (json?: Buffer) => (json === undefined ? someLack : lacking.has(json))
  return { id, storedAs: storage?.storedAs ?? apiVersion, store, read, readJson, readSteps, lacksDefaults }
}

/** Fields of a wrong type are for validation to refuse; what was stored before must still be read. */
function soundly(schema: ObjectSchema, object: ApiObject): ApiObject {
  try {
    return asObject(decode(schema, asJson(object)).value)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return structuredClone(object)
  }
}

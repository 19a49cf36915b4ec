/**
 * Objects of a custom kind as its definition has them now. A definition changes while its objects stay, so what is
 * stored may be of another version, have fields that are not known any more, or lack defaults that came later. It is
 * brought up when it is read, once for each state of an object, and stored so when it is next written.
 */
import { jsonDocument, parseOwnJson } from '../codec/json.ts'
import { ApiError } from '../model/api-error.ts'
import { sameJson } from '../model/json.ts'
import { type ApiObject, asJson, asObject } from '../model/object.ts'
import { apiVersionOf, type Vendor } from '../model/vendor.ts'
import { decode } from '../schema/decode.ts'
import { fillDefaults } from '../schema/defaults.ts'
import type { Evolution, KindNames } from '../schema/kind.ts'
import type { ObjectSchema } from '../schema/schema.ts'

export interface Evolving {
  readonly names: KindNames
  readonly schema: ObjectSchema
  readonly vendor: Vendor
  /** Differs wherever the definition does. */
  readonly id: string
  /** Of the version that objects are stored in, where that is another one. */
  readonly storage?: Evolution | undefined
}

export function evolutionOf({ names, schema, vendor, id, storage }: Evolving): Evolution {
  const apiVersion = apiVersionOf(vendor, names.group, names.version)
  const read = (object: ApiObject): ApiObject => {
    const value = soundly(schema, { ...object, apiVersion })
    fillDefaults(schema, asJson(value), { vendor, subresource: '' })
    return value
  }
  const known = new WeakMap<Buffer, Buffer>()
  const readJson = (json: Buffer): Buffer => {
    const before = known.get(json)
    if (before !== undefined) return before
    const stored = asObject(parseOwnJson(json))
    const object = read(stored)
    const same = sameJson(asJson(stored), asJson(object))
    const shown = same ? json : jsonDocument(asJson(object))
    known.set(json, shown)
    return shown
  }
  const store = storage === undefined ? (object: ApiObject) => object : storage.read
  return { id, storedAs: storage?.storedAs ?? apiVersion, store, read, readJson }
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

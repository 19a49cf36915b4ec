/**
 * Validates embedded objects in custom objects: apiVersion, kind and metadata must be present and well formed. This
 * includes objects that come from defaults.
 */

import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../api/model/field-error.ts'
import { checkDns1035Label } from '../../../api/model/names.ts'
import type { ObjectMeta } from '../../../api/model/object.ts'
import { decode } from '../../../api/schema/decode.ts'
import { objectMeta } from '../../../api/schema/object-meta.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import { validateInnerMetadata } from '../../registry/writes/metadata.ts'

/** Validates an embedded object whose apiVersion, kind and metadata are known to have the right types. */
export function embeddedFaults(value: JsonObject, path: FieldPath): FieldError[] {
  const metadata = own(value, 'metadata')
  return [
    ...typeFaults(value, 'apiVersion', path),
    ...typeFaults(value, 'kind', path),
    ...(isObject(metadata) ? validateInnerMetadata(metadata as ObjectMeta, child(path, 'metadata')) : []),
  ]
}

const typeForms = {
  apiVersion: (text: string) => (text.split('/').length > 2 ? [`unexpected GroupVersion string: ${text}`] : []),
  kind: (text: string) =>
    checkDns1035Label(text.toLowerCase()).map((fault) => `may have mixed case, but should otherwise match: ${fault}`),
}

function typeFaults(value: JsonObject, name: keyof typeof typeForms, path: FieldPath): FieldError[] {
  const place = child(path, name)
  const said = own(value, name)
  if (said === undefined) return [required(place, 'must not be empty')]
  if (typeof said !== 'string') return [invalid(place, said, 'must be a string')]
  if (said === '') return [invalid(place, said, 'must not be empty')]
  return typeForms[name](said).map((text) => invalid(place, said, text))
}

/**
 * Validates all embedded objects in a value that has not been decoded. If members have the wrong type, returns only the
 * first such error.
 */
export function rawEmbeddedFaults(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  const all = [...embeddedIn(schema, value, path)]
  const [misfit] = all.flatMap((each) => misfitsOf(...each))
  return misfit === undefined ? all.flatMap((each) => embeddedFaults(...each)) : [misfit]
}

/** Validates an embedded object that has not been decoded. */
export function rawObjectFaults(value: JsonObject, path: FieldPath): FieldError[] {
  const misfits = misfitsOf(value, path)
  return misfits.length > 0 ? misfits : embeddedFaults(value, path)
}

function misfitsOf(value: JsonObject, path: FieldPath): FieldError[] {
  const texts = ['apiVersion', 'kind'].filter((name) => typeof (own(value, name) ?? '') !== 'string')
  const metadata = own(value, 'metadata')
  const why = metadata === undefined ? undefined : whyNoMetadata(metadata)
  return [
    ...texts.map((name) => invalid(child(path, name), own(value, name), 'must be a string')),
    ...(why === undefined ? [] : [invalid(child(path, 'metadata'), metadata, why)]),
  ]
}

function whyNoMetadata(metadata: Json): string | undefined {
  try {
    decode(objectMeta, metadata)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}

function* embeddedIn(schema: Schema, value: Json | undefined, path: FieldPath): Generator<[JsonObject, FieldPath]> {
  if (schema.type === 'list' && Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* embeddedIn(schema.items, item, at(path, i))
  } else if (schema.type === 'map' && isObject(value)) {
    for (const [key, item] of Object.entries(value)) yield* embeddedIn(schema.values, item, at(path, key))
  } else if (schema.type === 'object' && isObject(value)) {
    if (schema.embedded) yield [value, path]
    for (const [name, { schema: inner }] of Object.entries(schema.fields))
      yield* embeddedIn(inner, own(value, name), child(path, name))
  }
}

/**
 * Returns the value with the metadata of its embedded objects removed, so that the rest can be searched for unknown
 * fields.
 */
export function withoutInnerMetadata(schema: Schema, value: Json): Json {
  if (schema.type === 'list' && Array.isArray(value))
    return value.map((item) => withoutInnerMetadata(schema.items, item))
  if (schema.type === 'map' && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, withoutInnerMetadata(schema.values, item!)]),
    )
  if (schema.type !== 'object' || !isObject(value)) return value
  const members = Object.entries(value).filter(([name]) => !(schema.embedded && name === 'metadata'))
  return Object.fromEntries(
    members.map(([name, item]) => {
      const inner = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined
      return [name, inner === undefined ? item : withoutInnerMetadata(inner.schema, item!)]
    }),
  )
}

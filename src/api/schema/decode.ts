/**
 * Decodes a JSON value according to a schema.
 *
 * Returns a new value in normal form: it contains only known fields, all values have the declared type, nulls and zero
 * values are handled as the field specifies, and scalars are in canonical form (read-scalars.ts). A value of the wrong
 * type causes a 400 error with the path of the value. Unknown fields are omitted and reported. The caller decides how
 * to handle them.
 */

import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
import { at, child, type FieldPath } from '../model/field-error.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Availability } from '../versions/availability.ts'
import { noteExplicitEmpty } from './explicit-empty.ts'
import { matchesType } from './matches-type.ts'
import { PresentFields } from './present-fields.ts'
import { readBase64, readInteger, readQuantity, readTime, wrongForm, wrongType } from './read-scalars.ts'
import type { AnySchema, Field, ListSchema, MapSchema, ObjectSchema, Schema } from './schema.ts'

export interface Decoded {
  readonly value: Json
  /** Paths of the fields that were dropped because they are unknown. */
  readonly unknown: readonly FieldPath[]
  /**
   * The Kubernetes versions in which unknown fields exist. Undefined if no other version has any of the unknown fields.
   */
  readonly otherVersions: OtherVersions | undefined
}

/** Maps the path of an unknown field to the other Kubernetes versions in which the field exists. */
export type OtherVersions = ReadonlyMap<FieldPath, Availability>

export interface DecodeOptions {
  /** The vendor, which is required for types that are decoded by their published description. */
  readonly vendor?: Vendor
  /**
   * Whether to preserve disallowed nulls in values of user-defined schemas, so that validation can reject them. Nulls
   * in fields with a default are never preserved.
   */
  readonly keepsNull?: boolean
}

/**
 * Decodes JSON according to a schema. Omits and reports unknown fields. Throws an error if a value has the wrong type.
 */
export function decode(schema: Schema, value: Json, options: DecodeOptions = {}): Decoded {
  const decoder = new Decoder(options)
  return { value: decoder.read(schema, value, ''), unknown: decoder.unknown, otherVersions: decoder.otherVersions }
}

/** Like `decode`, but yields wherever the work can be interrupted. */
export function* decodeSliced(schema: Schema, value: Json, options: DecodeOptions = {}): Generator<void, Decoded> {
  const decoder = new Decoder(options)
  const read = yield* decoder.readSliced(schema, value, '')
  return { value: read, unknown: decoder.unknown, otherVersions: decoder.otherVersions }
}

const int32 = { type: 'integer', bits: 32 } as const
const int64 = { type: 'integer', bits: 64 } as const

interface NamedField {
  readonly name: string
  readonly field: Field
}

/** The fields of an object schema as a list. The list is cached because every object of every request needs it. */
const fieldsOf = memoizeByObject(({ fields }: ObjectSchema) => {
  const all: NamedField[] = Object.entries(fields).map(([name, field]) => ({ name, field }))
  return new PresentFields(all, ({ field }) => field.zeroValue === 'write')
})

class Decoder {
  readonly unknown: FieldPath[] = []
  otherVersions: Map<FieldPath, Availability> | undefined
  readonly #vendor: Vendor | undefined
  readonly #keepsNull: boolean

  constructor({ vendor, keepsNull = false }: DecodeOptions) {
    this.#vendor = vendor
    this.#keepsNull = keepsNull
  }

  read(schema: Schema, value: Json, path: FieldPath): Json {
    if (schema.lenient && value === null) return value
    if (schema.lenient && !matchesType(schema, value)) return schema.anyType ? value : this.#withoutMembers(value, path)
    switch (schema.type) {
      case 'string':
        return typeof value === 'string' ? value : wrongType(path, value, 'string')
      case 'boolean':
        return typeof value === 'boolean' ? value : wrongType(path, value, 'bool')
      case 'integer':
        return readInteger(schema, value, path)
      case 'number':
        return typeof value === 'number' || typeof value === 'bigint' ? value : wrongType(path, value, 'number')
      case 'bytes':
        return typeof value === 'string' ? readBase64(value, path) : wrongType(path, value, 'base64 string')
      case 'time':
        return typeof value === 'string' ? readTime(value, schema.micro, path) : wrongType(path, value, 'time')
      case 'quantity':
        return readQuantity(value, path)
      case 'intOrString':
        return typeof value === 'string' ? value : readInteger(schema.lenient ? int64 : int32, value, path)
      case 'any':
        return schema.pruned === undefined ? value : this.#readPruned(schema, value, path)
      case 'map':
        return this.#readMap(schema, value, path)
      case 'list':
        return this.#readList(schema, value, path)
      case 'object':
        return this.#readObject(schema, value, path)
      default:
        return schema satisfies never
    }
  }

  /** Like `read`, but decodes large values in steps. */
  *readSliced(schema: Schema, value: Json, path: FieldPath): Generator<void, Json> {
    if (!isLarge(value) || (schema.lenient && !matchesType(schema, value))) return this.read(schema, value, path)
    yield
    if (schema.type === 'map' && isObject(value)) return yield* this.#readMapSliced(schema, value, path)
    if (schema.type === 'list' && Array.isArray(value)) return yield* this.#readListSliced(schema, value, path)
    if (!isObject(value)) return this.read(schema, value, path)
    const described = schema.type === 'any' ? this.#objectSchemaOf(schema) : undefined
    if (described !== undefined) return yield* this.readSliced(described, value, path)
    if (schema.type !== 'object') return this.read(schema, value, path)
    const result = this.#unknownKept(schema, value, path)
    for (const named of fieldsOf(schema).of(value)) {
      const { name, field } = named
      const sent = own(value, name)
      if (sent === undefined || sent === null) this.#setUnsent(result, named, sent)
      else setField(result, named, yield* this.readSliced(field.schema, sent, child(path, name)))
    }
    return result
  }

  #readObject(schema: ObjectSchema, value: Json, path: FieldPath): JsonObject {
    if (!isObject(value)) return wrongForm(path, value, 'struct')
    const result = this.#unknownKept(schema, value, path)
    for (const named of fieldsOf(schema).of(value)) {
      const { name, field } = named
      const sent = own(value, name)
      if (sent === undefined || sent === null) this.#setUnsent(result, named, sent)
      else setField(result, named, this.read(field.schema, sent, child(path, name)))
    }
    return result
  }

  /**
   * Returns the unknown fields of a value if the schema preserves unknown fields. Otherwise, reports the fields and
   * returns an empty object.
   */
  #unknownKept(schema: ObjectSchema, value: JsonObject, path: FieldPath): JsonObject {
    const result: JsonObject = {}
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(schema.fields, key)) continue
      if (schema.open) setKey(result, key, value[key]!)
      else this.#reportUnknown(schema, key, child(path, key))
    }
    return result
  }

  #reportUnknown({ otherVersions }: ObjectSchema, key: string, path: FieldPath): void {
    this.unknown.push(path)
    if (otherVersions === undefined || !Object.hasOwn(otherVersions, key)) return
    this.otherVersions ??= new Map()
    this.otherVersions.set(path, otherVersions[key]!)
  }

  #setUnsent(result: JsonObject, { name, field }: NamedField, sent: null | undefined): void {
    if (sent === null && (field.schema.nullable || this.#keepsNullOf(field))) setKey(result, name, null)
    else if (field.zeroValue === 'write') setKey(result, name, this.#zeroOf(field.schema))
  }

  #keepsNullOf({ schema, default: preset }: Field): boolean {
    return this.#keepsNull && schema.lenient === true && preset === undefined
  }

  /**
   * Decodes a value according to its published description, or according to the alternative that matches. Without a
   * vendor, returns the value unchanged.
   */
  #readPruned(schema: AnySchema, value: Json, path: FieldPath): Json {
    const { described, alternatives } = schema
    if (described === undefined && alternatives === undefined) return this.#withoutMembers(value, path)
    const vendor = this.#vendor
    if (vendor === undefined) return value
    if (described !== undefined) return this.#readObject(described(vendor), value, path)
    if (isObject(value)) return this.read(alternatives!.object.schema, value, path)
    const items = Array.isArray(value) ? alternatives?.list?.items : undefined
    if (items !== undefined) return (value as Json[]).map((item, i) => this.#readItem(items, item, at(path, i)))
    return typeof value === 'boolean' && alternatives?.boolean !== undefined ? value : wrongType(path, value, 'object')
  }

  /** Returns the schema for pruning a free-form object, or undefined if the object is preserved as sent. */
  #objectSchemaOf({ pruned, described, alternatives }: AnySchema): Schema | undefined {
    if (pruned === undefined || this.#vendor === undefined) return undefined
    return described?.(this.#vendor) ?? alternatives?.object.schema
  }

  /**
   * Drops and reports all members of a value. Used for values that the schema does not describe or whose type is wrong.
   */
  #withoutMembers(value: Json, path: FieldPath): Json {
    if (Array.isArray(value)) return value.map((item, i) => this.#withoutMembers(item, at(path, i)))
    if (!isObject(value)) return value
    for (const key of Object.keys(value)) this.unknown.push(child(path, key))
    return {}
  }

  #readMap(schema: MapSchema, value: Json, path: FieldPath): Json {
    if (!isObject(value)) return wrongForm(path, value, 'map')
    const result: JsonObject = {}
    for (const key of Object.keys(value)) {
      const item = value[key]!
      if (!this.#isDropped(schema.values, item)) setKey(result, key, this.#readItem(schema.values, item, at(path, key)))
    }
    return result
  }

  *#readMapSliced(schema: MapSchema, value: JsonObject, path: FieldPath): Generator<void, Json> {
    const result: JsonObject = {}
    let entries = 0
    for (const key of Object.keys(value)) {
      if (++entries % partsPerSlice === 0) yield
      const item = value[key]!
      if (!this.#isDropped(schema.values, item))
        setKey(result, key, yield* this.#readItemSliced(schema.values, item, at(path, key)))
    }
    return result
  }

  #isDropped(schema: Schema, item: Json): boolean {
    if (item !== null || !schema.lenient || this.#keepsNull || schema.ifNull !== undefined) return false
    return !matchesType(schema, null)
  }

  #readList(schema: ListSchema, value: Json, path: FieldPath): Json {
    if (!Array.isArray(value)) return wrongForm(path, value, 'slice')
    return value.map((item, i) => this.#readItem(schema.items, item, at(path, i)))
  }

  *#readListSliced(schema: ListSchema, value: Json[], path: FieldPath): Generator<void, Json> {
    const items: Json[] = []
    for (const [i, item] of value.entries()) {
      if (i % partsPerSlice === 0) yield
      items.push(yield* this.#readItemSliced(schema.items, item, at(path, i)))
    }
    return items
  }

  /** Decode small items without a generator, which is faster. Most parts of a large value are small items. */
  *#readItemSliced(schema: Schema, item: Json, path: FieldPath): Generator<void, Json> {
    return isLarge(item) ? yield* this.readSliced(schema, item, path) : this.#readItem(schema, item, path)
  }

  #readItem(schema: Schema, item: Json, path: FieldPath): Json {
    return item === null && !schema.lenient ? this.#zeroOf(schema) : this.read(schema, item, path)
  }

  /** Returns the value that replaces a null or missing value. */
  #zeroOf(schema: Schema): Json {
    switch (schema.type) {
      case 'string':
      case 'bytes':
        return ''
      case 'quantity':
        return '0'
      case 'boolean':
        return false
      case 'integer':
      case 'number':
      case 'intOrString':
        return 0
      case 'time':
        return null
      case 'any':
        return schema.pruned && schema.described !== undefined ? {} : null
      case 'map':
        return asUnsent({})
      case 'list':
        return asUnsent([])
      case 'object':
        return this.#readObject(schema, {}, '')
      default:
        return schema satisfies never
    }
  }
}

function setField(result: JsonObject, { name, field }: NamedField, item: Json): void {
  if (field.zeroValue !== 'omit' || !isZero(item)) setKey(result, name, item)
  else if (field.emptyCounts) noteExplicitEmpty(result, name)
}

/** Empty lists and maps that the decoder itself added, because their fields are always written. */
const unsent = new WeakSet<object>()

function asUnsent<T extends JsonObject | Json[]>(empty: T): T {
  unsent.add(empty)
  return empty
}

/**
 * Whether the decoder has added the list or map because the client did not send it. An empty list or map from a client
 * is significant.
 */
export function isUnsent(value: Json): boolean {
  return typeof value === 'object' && value !== null && unsent.has(value)
}

function isZero(value: Json): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : !hasKeys(value)
}

/** Whether an object has any keys. Faster than `Object.keys`, which allocates an array. */
function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true
  return false
}

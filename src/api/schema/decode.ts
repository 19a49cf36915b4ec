/**
 * Reads a JSON value against a schema: the first reader of the schema language.
 *
 * Returns a fresh value in its normal form: known fields only, every value of its type, nulls and zero values treated as
 * the field says, single values written one way (read-scalars.ts). A value of a wrong type is a 400 that names the
 * place. Fields that the schema does not know are left out and reported; the caller decides what that means.
 */

import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import { isLarge, partsPerStep } from '../json/large-json.ts'
import { at, child, type FieldPath } from '../model/field-error.ts'
import type { Vendor } from '../model/vendor.ts'
import { noteExplicitEmpty } from './explicit-empty.ts'
import { matchesType } from './matches-type.ts'
import { PresentFields } from './present-fields.ts'
import { readBase64, readInteger, readQuantity, readTime, wrongForm, wrongType } from './read-scalars.ts'
import type { AnySchema, Field, ListSchema, MapSchema, ObjectSchema, Schema } from './schema.ts'

export interface Decoded {
  readonly value: Json
  /** Paths of the fields that the schema does not know. */
  readonly unknown: readonly FieldPath[]
}

export interface DecodeOptions {
  /** Needed by types that are read by what is published of them. */
  readonly vendor?: Vendor
  /** In users' schemas null is kept where it is not allowed, for validation to refuse; unless there is a default. */
  readonly keepsNull?: boolean
}

/** Reads JSON by a schema: unknown fields are left out and reported, values of the wrong type are refused. */
export function decode(schema: Schema, value: Json, options: DecodeOptions = {}): Decoded {
  const decoder = new Decoder(options)
  return { value: decoder.read(schema, value, ''), unknown: decoder.unknown }
}

/** The same, with a yield where it can be interrupted. */
export function* decodeSteps(schema: Schema, value: Json, options: DecodeOptions = {}): Generator<void, Decoded> {
  const decoder = new Decoder(options)
  return { value: yield* decoder.readSteps(schema, value, ''), unknown: decoder.unknown }
}

const int32 = { type: 'integer', bits: 32 } as const
const int64 = { type: 'integer', bits: 64 } as const

interface NamedField {
  readonly name: string
  readonly field: Field
}

/** The fields of an object as a list: every object of every request goes through it. */
const fieldsOf = memoizeByObject(({ fields }: ObjectSchema) => {
  const all: NamedField[] = Object.entries(fields).map(([name, field]) => ({ name, field }))
  return new PresentFields(all, ({ field }) => field.zero === 'write')
})

class Decoder {
  readonly unknown: FieldPath[] = []
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

  /** Takes large values apart; what is not large is read at once. */
  *readSteps(schema: Schema, value: Json, path: FieldPath): Generator<void, Json> {
    if (!isLarge(value) || (schema.lenient && !matchesType(schema, value))) return this.read(schema, value, path)
    yield
    if (schema.type === 'map' && isObject(value)) return yield* this.#readMapSteps(schema, value, path)
    if (schema.type === 'list' && Array.isArray(value)) return yield* this.#readListSteps(schema, value, path)
    if (schema.type !== 'object' || !isObject(value)) return this.read(schema, value, path)
    const result = this.#unknownKept(schema, value, path)
    for (const named of fieldsOf(schema).of(value)) {
      const { name, field } = named
      const sent = own(value, name)
      if (sent === undefined || sent === null) this.#setUnsent(result, named, sent)
      else setField(result, named, yield* this.readSteps(field.schema, sent, child(path, name)))
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

  /** What an object begins with: what its schema does not know, where that is kept; elsewhere it is reported. */
  #unknownKept(schema: ObjectSchema, value: JsonObject, path: FieldPath): JsonObject {
    const result: JsonObject = {}
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(schema.fields, key)) continue
      if (schema.open) setKey(result, key, value[key]!)
      else this.unknown.push(child(path, key))
    }
    return result
  }

  #setUnsent(result: JsonObject, { name, field }: NamedField, sent: null | undefined): void {
    if (sent === null && (field.schema.nullable || this.#isKept(field))) setKey(result, name, null)
    else if (field.zero === 'write') setKey(result, name, this.#zeroOf(field.schema))
  }

  #isKept({ schema, default: preset }: Field): boolean {
    return this.#keepsNull && schema.lenient === true && preset === undefined
  }

  /** A value of the form that its description gives it, or of one of its forms. Without a vendor it is taken as it is. */
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

  /** A value of another type than its schema wants, or of which it says nothing: no member of it is known. */
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

  *#readMapSteps(schema: MapSchema, value: JsonObject, path: FieldPath): Generator<void, Json> {
    const result: JsonObject = {}
    let entries = 0
    for (const key of Object.keys(value)) {
      if (++entries % partsPerStep === 0) yield
      const item = value[key]!
      if (!this.#isDropped(schema.values, item))
        setKey(result, key, yield* this.#readItemSteps(schema.values, item, at(path, key)))
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

  *#readListSteps(schema: ListSchema, value: Json[], path: FieldPath): Generator<void, Json> {
    const items: Json[] = []
    for (const [i, item] of value.entries()) {
      if (i % partsPerStep === 0) yield
      items.push(yield* this.#readItemSteps(schema.items, item, at(path, i)))
    }
    return items
  }

  /** Most parts of what is large are not. */
  *#readItemSteps(schema: Schema, item: Json, path: FieldPath): Generator<void, Json> {
    return isLarge(item) ? yield* this.readSteps(schema, item, path) : this.#readItem(schema, item, path)
  }

  #readItem(schema: Schema, item: Json, path: FieldPath): Json {
    return item === null && !schema.lenient ? this.#zeroOf(schema) : this.read(schema, item, path)
  }

  /** What stands for a value that was sent as null or not at all. */
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
  if (field.zero !== 'omit' || !isZero(item)) setKey(result, name, item)
  else if (field.emptyCounts) noteExplicitEmpty(result, name)
}

/** Lists and maps that are there only because a field is written in any case. */
const unsent = new WeakSet<object>()

function asUnsent<T extends JsonObject | Json[]>(empty: T): T {
  unsent.add(empty)
  return empty
}

/** Whether this very list or map stands for one that was not sent. Who sends an empty one has said something. */
export function isUnsent(value: Json): boolean {
  return typeof value === 'object' && value !== null && unsent.has(value)
}

function isZero(value: Json): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : !hasKeys(value)
}

/** Without an array of the keys. */
function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true
  return false
}

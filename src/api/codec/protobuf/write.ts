/**
 * Encodes JSON values as Protobuf messages according to their schema.
 *
 * All objects in this server are in the normal form of their schema (api/schema/decode.ts), so the encoder never
 * rejects a value. Types that differ between JSON and Protobuf (times, quantities, bytes) are listed in `#plain`. A
 * message with very many values takes a long time to encode, so the encoder yields periodically.
 *
 * Some JSON, such as the schema of a custom resource, is stored as sent but has a typed message in Protobuf. Such JSON
 * may contain values that do not fit the message. The encoder omits such values.
 */

import { runToCompletion } from '../../../base/concurrency/time-slice.ts'
import { WireWriter } from '../../../wire/protobuf/protobuf-wire.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import type { Vendor } from '../../model/vendor.ts'
import { matchesType } from '../../schema/matches-type.ts'
import type { Alternatives, AnySchema, ListSchema, MapSchema, ObjectSchema, Schema } from '../../schema/schema.ts'
import { sortedKeys } from '../json.ts'
import { storedTextSliced } from '../sliced-json.ts'
import { type Message, messageOf, onWire } from './message.ts'

export interface WriteOptions {
  /** Expected length of the message in bytes, for the initial buffer. */
  readonly size?: number
  /** The vendor whose names the message uses, if messages differ by vendor. */
  readonly vendor?: Vendor
}

/** Encodes an object as a message without an envelope. */
export function writeMessage(schema: ObjectSchema, object: JsonObject, options?: WriteOptions): Buffer {
  return runToCompletion(writeSliced(schema, object, options))
}

/** Encodes an object like `writeMessage`, but yields periodically so that other work can run. */
export function writeSliced(
  schema: ObjectSchema,
  object: JsonObject,
  options: WriteOptions = {},
): Generator<void, Buffer> {
  return new MessageWriter(options).whole(schema, object)
}

/** Number of members, elements and entries to encode between yields. */
const stepValues = 1000

const nothing = Buffer.alloc(0)

class MessageWriter {
  readonly #wire: WireWriter
  readonly #vendor: Vendor | undefined
  #values = 0

  constructor({ size = 256, vendor }: WriteOptions) {
    this.#wire = new WireWriter(0, size)
    this.#vendor = vendor
  }

  *whole(schema: ObjectSchema, object: JsonObject): Generator<void, Buffer> {
    yield* this.#parts(messageOf(schema), object)
    return this.#wire.finish()
  }

  *#parts(message: Message, object: JsonObject): Generator<void, void> {
    for (const part of message.parts) {
      if (part.inlined !== undefined) {
        const start = this.#wire.begin(part.number)
        yield* this.#parts(part.inlined, object)
        this.#wire.end(start)
        continue
      }
      const { number, schema } = part
      const value = object[part.name] ?? (part.always ? zeroOf(schema) : null)
      if (value === null) continue
      if (holdsValues(schema)) yield* this.#holder(number, schema, value)
      else this.#plain(number, schema, value)
    }
  }

  *#holder(number: number, schema: Holder, value: Json): Generator<void, void> {
    if (schema.type === 'list') yield* this.#list(number, schema, value as Json[])
    else if (schema.type === 'map') yield* this.#map(number, schema, value as JsonObject)
    else if (schema.type === 'any') yield* this.#writeAny(number, schema, value)
    else yield* this.#message(number, schema, value as JsonObject)
  }

  *#message(number: number, schema: ObjectSchema, value: JsonObject): Generator<void, void> {
    const start = this.#wire.begin(number)
    yield* this.#parts(messageOf(schema), value)
    this.#wire.end(start)
  }

  /**
   * Encodes JSON that is stored exactly as the client sent it. The JSON is encoded as text, unless Protobuf has a typed
   * message for it.
   */
  *#writeAny(number: number, schema: AnySchema, value: Json): Generator<void, void> {
    if (schema.described === undefined && schema.alternatives === undefined)
      return this.#textIn(number, yield* storedTextSliced(value, undefined, 1))
    if (schema.alternatives !== undefined) return yield* this.#writeAlternative(number, schema.alternatives, value)
    const described = onWire(schema, this.#vendor) as ObjectSchema
    yield* this.#message(number, described, isObject(value) ? fitting(described, value) : {})
  }

  /** Encodes a value that may be a boolean, a list or a schema. For a schema, the boolean is also set to true. */
  *#writeAlternative(number: number, { boolean, list, object }: Alternatives, value: Json): Generator<void, void> {
    const start = this.#wire.begin(number)
    if (boolean !== undefined) this.#wire.bool(boolean, value !== false)
    if (list !== undefined && Array.isArray(value)) yield* this.#items(list.tag, list.items, fittingItems(list, value))
    else if (isObject(value)) yield* this.#items(object.tag, object.schema, [value])
    this.#wire.end(start)
  }

  *#list(number: number, schema: ListSchema, items: readonly Json[]): Generator<void, void> {
    if (!schema.wrapped) yield* this.#items(number, schema.items, items)
    else yield* this.#wrapped(number, schema, items)
  }

  *#wrapped(number: number, { items: schema }: ListSchema, items: readonly Json[]): Generator<void, void> {
    const start = this.#wire.begin(number)
    yield* this.#items(1, schema, items)
    this.#wire.end(start)
  }

  *#items(number: number, schema: Schema, items: readonly Json[]): Generator<void, void> {
    for (const item of items) {
      if (holdsValues(schema)) yield* this.#holder(number, schema, item)
      else this.#plain(number, schema, item)
      if (++this.#values % stepValues === 0) yield
    }
  }

  /** Encodes each entry of a map as a message with a key and a value. Entries are sorted by key. */
  *#map(number: number, { values }: MapSchema, map: JsonObject): Generator<void, void> {
    for (const key of sortedKeys(map)) {
      const start = this.#wire.begin(number)
      this.#wire.string(1, key)
      const value = map[key]
      if (value === undefined || value === null) this.#wire.bytes(2, nothing)
      else if (values.type === 'list') yield* this.#wrapped(2, values, value as Json[])
      else if (holdsValues(values)) yield* this.#holder(2, values, value)
      else this.#plain(2, values, value)
      this.#wire.end(start)
      if (++this.#values % stepValues === 0) yield
    }
  }

  #plain(number: number, schema: Exclude<Schema, Holder>, value: Json): void {
    switch (schema.type) {
      case 'string':
        this.#wire.string(number, value as string)
        break
      case 'boolean':
        this.#wire.bool(number, value as boolean)
        break
      case 'integer':
        this.#wire.integer(number, value as number | bigint)
        break
      case 'number':
        this.#wire.double(number, Number(value))
        break
      case 'bytes':
        this.#wire.bytes(number, Buffer.from(value as string, 'base64'))
        break
      case 'time':
        this.#time(number, value as string)
        break
      case 'quantity':
        this.#textIn(number, value as string)
        break
      case 'intOrString':
        this.#intOrString(number, value as number | string)
        break
      default:
        schema satisfies never
    }
  }

  /** Encodes a message that contains only a string, such as a quantity or raw JSON. */
  #textIn(number: number, text: string): void {
    const start = this.#wire.begin(number)
    this.#wire.string(1, text)
    this.#wire.end(start)
  }

  /** Encodes a time as seconds and nanoseconds since 1970. */
  #time(number: number, text: string): void {
    const start = this.#wire.begin(number)
    this.#wire.integer(1, Math.floor(Date.parse(text) / 1000))
    // In a time such as `2026-01-02T03:04:05.123456Z`, the digits after the dot are microseconds.
    this.#wire.integer(2, text[19] === '.' ? Number(text.slice(20, 26)) * 1000 : 0)
    this.#wire.end(start)
  }

  /** Encodes a value that is either an integer or a string as a message with the type and both values. */
  #intOrString(number: number, value: number | string): void {
    const isText = typeof value === 'string'
    const start = this.#wire.begin(number)
    this.#wire.integer(1, isText ? 1 : 0)
    this.#wire.integer(2, isText ? 0 : value)
    this.#wire.string(3, isText ? value : '')
    this.#wire.end(start)
  }
}

/** A schema with nested values, whose encoding may need to yield. */
type Holder = ObjectSchema | ListSchema | MapSchema | AnySchema

function holdsValues(schema: Schema): schema is Holder {
  return schema.type === 'object' || schema.type === 'list' || schema.type === 'map' || schema.type === 'any'
}

/**
 * For an object that is stored as the client sent it, returns the members that fit its Protobuf message. Other members
 * are omitted.
 */
function fitting({ fields }: ObjectSchema, object: JsonObject): JsonObject {
  const members = Object.entries(object).filter(([name, value]) => Object.hasOwn(fields, name) && value !== undefined)
  return Object.fromEntries(
    members.flatMap(([name, value]) => {
      const { schema } = fields[name]!
      if (!matchesType(schema, value!) || (schema.type === 'integer' && !Number.isSafeInteger(value))) return []
      return [[name, fittingMembers(schema, value!)]]
    }),
  )
}

function fittingMembers(schema: Schema, value: Json): Json {
  if (schema.type === 'list') return fittingItems(schema, value as Json[])
  if (schema.type !== 'map') return schema.type === 'object' ? fitting(schema, value as JsonObject) : value
  return Object.fromEntries(Object.entries(value as JsonObject).filter(([, each]) => each !== undefined))
}

function fittingItems({ items }: { readonly items: Schema }, values: readonly Json[]): Json[] {
  const fit = values.filter((each) => matchesType(items, each))
  return items.type === 'object' ? fit.map((each) => fitting(items, each as JsonObject)) : fit
}

/** Returns the zero value of a type. The zero value is written for fields that are always encoded. */
function zeroOf({ type }: Schema): Json {
  if (type === 'string') return ''
  if (type === 'boolean') return false
  return type === 'object' ? {} : 0
}

/**
 * Decodes Protobuf messages into JSON values according to their schema. The result is what a client would have sent as
 * JSON, and is processed in the same way (api/schema/normalize.ts). The decoder validates only the encoding.
 *
 * As the wire format requires, unknown fields are skipped, the last occurrence of a scalar field is used, and repeated
 * occurrences of a message are merged. The decoder rejects groups (an obsolete encoding), values with the wrong wire
 * type, text that is not UTF-8, and more values than a JSON body may have. Error messages name the field. The decoder
 * yields periodically, because messages can be large.
 */

import { runToCompletion } from '../../../base/concurrency/time-slice.ts'
import { WireError, WireReader, type WireType } from '../../../wire/protobuf/protobuf-wire.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../../json/json.ts'
import { ApiError } from '../../model/api-error.ts'
import type { Vendor } from '../../model/vendor.ts'
import type {
  Alternatives,
  AnySchema,
  IntegerSchema,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Schema,
  TimeSchema,
} from '../../schema/schema.ts'
import { parseJson } from '../json.ts'
import { maxValues, tooManyValues } from '../json-scan.ts'
import { type Message, type MessageField, messageOf, onWire } from './message.ts'

/**
 * Decodes a message. Throws WireError for a malformed message and ApiError for too many values. `vendor` determines
 * which vendor's names the message uses, if messages differ by vendor.
 */
export function readMessage(schema: ObjectSchema, bytes: Uint8Array, vendor?: Vendor): JsonObject {
  return runToCompletion(readSliced(schema, bytes, vendor))
}

/** Decodes a message like `readMessage`, but yields periodically so that other work can run. */
export function readSliced(schema: ObjectSchema, bytes: Uint8Array, vendor?: Vendor): Generator<void, JsonObject> {
  return new MessageReader(bytes, vendor).whole(schema)
}

/** Number of fields to decode before yielding. */
const stepFields = 1000

const packed: WireType = 2

/**
 * Maximum number of fields of a message, including nested messages. A value takes up to four fields, and clients also
 * send zero values.
 */
const maxFields = 4 * maxValues

class MessageReader {
  readonly #wire: WireReader
  readonly #vendor: Vendor | undefined
  #fields = 0
  #values = 0

  constructor(bytes: Uint8Array, vendor: Vendor | undefined) {
    this.#wire = new WireReader(bytes)
    this.#vendor = vendor
  }

  *whole(schema: ObjectSchema): Generator<void, JsonObject> {
    const object: JsonObject = {}
    yield* this.#parts(messageOf(schema), object)
    return object
  }

  *#parts(message: Message, object: JsonObject): Generator<void, void> {
    for (let number = this.#wire.next(); number !== 0; number = this.#wire.next()) {
      if (++this.#fields > maxFields) throw tooManyValues()
      if (this.#fields % stepFields === 0) yield
      const part = message.byNumber.get(number)
      if (part === undefined) this.#skip(number)
      else if (part.inlined !== undefined) yield* this.#message(part.inlined, object)
      else {
        const inner = objectIn(part.schema, this.#vendor)
        if (inner === undefined) this.#field(part, object)
        else yield* this.#objectField(part, inner, object)
      }
    }
  }

  /** Decodes a nested object, which is the value of the field or an element of its list. */
  *#objectField({ name, schema }: MessageField, inner: ObjectSchema, object: JsonObject): Generator<void, void> {
    const before = own(object, name)
    const isList = schema.type === 'list'
    const value: JsonObject = !isList && isObject(before) ? before : {}
    if (isList || before === undefined) this.#count()
    try {
      yield* this.#message(messageOf(inner), value)
    } catch (error) {
      throw placed(error, name)
    }
    if (!isList) setKey(object, name, value)
    else if (Array.isArray(before)) before.push(value)
    else setKey(object, name, [value])
  }

  #skip(number: number): void {
    const { wireType } = this.#wire
    if (wireType === 3 || wireType === 4) throw new WireError(`field ${number} is a group, which is not supported`)
    this.#wire.skip()
  }

  *#message(message: Message, object: JsonObject): Generator<void, void> {
    const outer = this.#wire.enter()
    yield* this.#parts(message, object)
    this.#wire.leave(outer)
  }

  #field({ name, schema, omitsZero }: MessageField, object: JsonObject): void {
    try {
      const before = own(object, name)
      const value = this.#value(schema, before)
      if (value === undefined) return
      if (omitsZero && (value === '' || value === 0 || value === false)) {
        if (before !== undefined) delete object[name]
        return
      }
      if (before === undefined) this.#count()
      setKey(object, name, value)
    } catch (error) {
      throw placed(error, name)
    }
  }

  /** Counts an additional member or element. */
  #count(): void {
    if (++this.#values > maxValues) throw tooManyValues()
  }

  /**
   * Decodes a value. `before` is the value from an earlier occurrence of the field. Returns undefined if the field
   * counts as absent.
   */
  #value(schema: Schema, before: Json | undefined): Json | undefined {
    switch (schema.type) {
      case 'string':
        return this.#wire.string()
      case 'boolean':
        return this.#wire.bool()
      case 'integer':
        return this.#integer(schema)
      case 'number':
        return this.#wire.double()
      case 'bytes':
        return Buffer.from(this.#wire.view()).toString('base64')
      case 'time':
        return this.#time(schema)
      case 'quantity':
        return this.#quantity()
      case 'intOrString':
        return this.#intOrString()
      case 'any':
        return this.#readAny(schema, before)
      case 'map':
        return this.#map(schema, isObject(before) ? before : {})
      case 'list':
        return this.#list(schema, Array.isArray(before) ? before : [])
      case 'object':
        return this.#object(schema, isObject(before) ? before : {})
      default:
        return schema satisfies never
    }
  }

  #object(schema: ObjectSchema, object: JsonObject): JsonObject {
    runToCompletion(this.#message(messageOf(schema), object))
    return object
  }

  /** Decodes JSON that is encoded either as bytes or as a typed message. */
  #readAny(schema: AnySchema, before: Json | undefined): Json | undefined {
    if (schema.alternatives !== undefined) return this.#readAlternative(schema.alternatives, before)
    const described = onWire(schema, this.#vendor)
    return described.type === 'any' ? this.#any() : this.#value(described, before)
  }

  /**
   * Decodes a value that is a boolean, a list or a schema. If the message contains a list or a schema, the boolean is
   * ignored.
   */
  #readAlternative({ boolean, list, object }: Alternatives, before: Json | undefined): Json | undefined {
    let allows = typeof before === 'boolean' ? before : undefined
    let items: Json[] | undefined = Array.isArray(before) ? before : undefined
    let inner: Json | undefined = isObject(before) ? before : undefined
    this.#inner((field) => {
      if (field === boolean) allows = this.#wire.bool()
      else if (field === list?.tag) items = this.#listed(list.items, items ?? [])
      else if (field === object.tag) inner = this.#value(object.schema, inner)
      else return undefined
      return true
    })
    return items ?? inner ?? (boolean === undefined ? undefined : (allows ?? false))
  }

  #listed(schema: Schema, items: Json[]): Json[] {
    this.#item(schema, items)
    return items
  }

  #integer({ bits }: IntegerSchema): number | bigint {
    return bits === 32 ? this.#wire.int32() : this.#wire.integer()
  }

  #list(schema: ListSchema, items: Json[]): Json[] {
    return schema.wrapped ? this.#wrapped(schema, items) : this.#listed(schema.items, items)
  }

  /** Decodes one or more elements of a list. Integers may be sent one by one, or packed in a single field. */
  #item(schema: Schema, items: Json[]): void {
    if (schema.type !== 'integer' || this.#wire.wireType !== packed) {
      this.#count()
      // An empty element is added to the list, because every occurrence of a repeated field is an element.
      items.push(this.#value(schema, undefined) ?? null)
      return
    }
    const outer = this.#wire.enter()
    while (!this.#wire.atEnd) {
      this.#count()
      items.push(this.#integer(schema))
    }
    this.#wire.leave(outer)
  }

  #wrapped({ items: schema }: ListSchema, items: Json[]): Json[] {
    this.#inner((field) => {
      if (field === 1) this.#item(schema, items)
      return field === 1 ? true : undefined
    })
    return items
  }

  #map({ values }: MapSchema, map: JsonObject): JsonObject {
    let key = ''
    let value: Json | undefined
    this.#inner((field) => {
      if (field === 1) key = this.#wire.string()
      else if (field !== 2) return undefined
      else if (values.type === 'list') value = this.#wrapped(values, Array.isArray(value) ? value : [])
      else value = this.#value(values, value)
      return true
    })
    this.#count()
    setKey(map, key, value ?? absent(values))
    return map
  }

  /** Decodes a quantity. A message without a string is zero. An empty string is rejected, as in JSON. */
  #quantity(): string {
    const text = this.#inner((field) => (field === 1 ? this.#wire.string() : undefined))
    if (text === '') throw new WireError('"" is not a quantity')
    return text ?? '0'
  }

  /** Decodes a time. Returns undefined if the message contains no time. */
  #time({ micro }: TimeSchema): string | undefined {
    let seconds: number | bigint = 0
    let nanos = 0
    const said = this.#inner((field) => {
      if (field === 1) seconds = this.#wire.integer()
      else if (field === 2) nanos = this.#wire.int32()
      else return undefined
      return true
    })
    if (said === undefined) return undefined
    const whole = timeText(seconds, nanos)
    return micro ? `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z` : `${whole}Z`
  }

  #intOrString(): number | string {
    let type: number | bigint = 0
    let number = 0
    let text = ''
    this.#inner((field) => {
      if (field === 1) type = this.#wire.integer()
      else if (field === 2) number = this.#wire.int32()
      else if (field === 3) text = this.#wire.string()
      else return undefined
      return true
    })
    if (type !== 0 && type !== 1) throw new WireError('must be a number or a string')
    return type === 0 ? number : text
  }

  /** Decodes JSON that is encoded as bytes. */
  #any(): Json | undefined {
    let bytes: Uint8Array | undefined
    this.#inner((field) => {
      if (field !== 1) return undefined
      bytes = this.#wire.view()
      return true
    })
    return bytes === undefined || bytes.length === 0 ? undefined : parseJson(Buffer.from(bytes)).value
  }

  /**
   * Decodes a small nested message. `read` decodes one field, or returns undefined to skip it. Returns the last decoded
   * field.
   */
  #inner<T>(read: (field: number) => T | undefined): T | undefined {
    const outer = this.#wire.enter()
    let last: T | undefined
    for (let field = this.#wire.next(); field !== 0; field = this.#wire.next()) {
      if (++this.#fields > maxFields) throw tooManyValues()
      const readValue = read(field)
      if (readValue === undefined) this.#skip(field)
      else last = readValue
    }
    this.#wire.leave(outer)
    return last
  }
}

/** Returns the message type of a single field, or of a list's elements. */
function objectIn(schema: Schema, vendor: Vendor | undefined): ObjectSchema | undefined {
  const one = onWire(schema.type === 'list' && !schema.wrapped ? schema.items : schema, vendor)
  return one.type === 'object' ? one : undefined
}

/** Returns the default value of a map entry whose message contains only a key. */
function absent(schema: Schema): Json {
  const { type } = schema
  if (type === 'string' || type === 'bytes') return ''
  if (type === 'list') return []
  return type === 'object' || type === 'map' || (type === 'any' && schema.described !== undefined) ? {} : null
}

const maxSeconds = 253_402_300_799
const minSeconds = -62_135_596_800

/**
 * Formats a time that is specified in seconds. The time must be in the years 1 to 9999. Digits beyond the precision of
 * the field are dropped.
 */
function timeText(seconds: number | bigint, nanos: number): string {
  if (seconds < minSeconds || seconds > maxSeconds || nanos < 0 || nanos > 999_999_999)
    throw new WireError('the time is out of range')
  return new Date(Number(seconds) * 1000).toISOString().slice(0, 19)
}

/** Prepends the field name to an error message, as in `spec.template.spec: field 1 has wire type 0, not 2`. */
function placed(error: unknown, name: string): unknown {
  if (error instanceof WireError) {
    const inner = error instanceof PlacedError ? `${error.path}` : ''
    const what = error instanceof PlacedError ? error.what : error.message
    return new PlacedError(inner === '' ? name : `${name}.${inner}`, what)
  }
  if (!(error instanceof ApiError) || error.code !== 400) return error
  // For errors in JSON embedded in the message, only the field name is prepended.
  return new PlacedError(name, error.message)
}

class PlacedError extends WireError {
  readonly path: string
  readonly what: string

  constructor(path: string, what: string) {
    super(`${path}: ${what}`)
    this.path = path
    this.what = what
  }
}

/**
 * Reads a JSON value against a schema: the first reader of the schema language.
 *
 * Gives a fresh value in its normal form: known fields only, every value of its type, nulls and zero values treated as
 * the field says, base64, times and quantities checked and written one way. A value of a wrong type is a 400 that names
 * the place. Fields that the schema does not know are left out and reported; the caller decides what that means.
 */

import { memoizeByObject } from '../base/memoize-by-object.ts'
import { shorten } from '../base/shorten.ts'
import { badRequest } from '../model/api-error.ts'
import { at, child, type FieldPath } from '../model/field-error.ts'
import { isObject, type Json, type JsonObject, own, setKey, typeName } from '../model/json.ts'
import { canonicalQuantity } from '../model/quantity.ts'
import type { Vendor } from '../model/vendor.ts'
import { noteExplicitEmpty } from './explicit-empty.ts'
import { matchesType } from './matches-type.ts'
import { PresentFields } from './present-fields.ts'
import type { AnySchema, Field, IntegerSchema, ListSchema, MapSchema, ObjectSchema, Schema } from './schema.ts'
import { normalTime } from './time.ts'

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
  const unknown: FieldPath[] = []
  return { value: read(schema, value, '', { unknown, ...options }), unknown }
}

interface Reading extends DecodeOptions {
  readonly unknown: FieldPath[]
}

function read(schema: Schema, value: Json, path: FieldPath, reading: Reading): Json {
  if (schema.lenient && value === null) return value
  if (schema.lenient && !matchesType(schema, value))
    return schema.anyType ? value : withoutMembers(value, path, reading)
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
      return typeof value === 'string' ? value : readInteger({ type: 'integer', bits: 32 }, value, path)
    case 'any':
      return schema.pruned === undefined ? value : readPruned(schema, value, path, reading)
    case 'map':
      return readMap(schema, value, path, reading)
    case 'list':
      return readList(schema, value, path, reading)
    case 'object':
      return readObject(schema, value, path, reading)
    default:
      return schema satisfies never
  }
}

/** The fields of an object as a list: every object of every request goes through it. */
const fieldsOf = memoizeByObject(({ fields }: ObjectSchema) => {
  const all = Object.entries(fields).map(([name, field]) => ({ name, field }))
  return new PresentFields(all, ({ field }) => field.zero === 'write')
})

function readObject(schema: ObjectSchema, value: Json, path: FieldPath, reading: Reading): Json {
  if (!isObject(value)) return wrongForm(path, value, 'struct')
  const result: JsonObject = {}
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(schema.fields, key)) continue
    if (schema.open) setKey(result, key, value[key]!)
    else reading.unknown.push(child(path, key))
  }
  for (const { name, field } of fieldsOf(schema).of(value)) {
    const sent = own(value, name)
    if (sent !== undefined && sent !== null) {
      const item = read(field.schema, sent, child(path, name), reading)
      if (field.zero !== 'omit' || !isZero(item)) setKey(result, name, item)
      else if (field.emptyCounts) noteExplicitEmpty(result, name)
    } else if (sent === null && (field.schema.nullable || isKept(field, reading))) {
      setKey(result, name, null)
    } else if (field.zero === 'write') {
      setKey(result, name, zeroOf(field.schema, reading))
    }
  }
  return result
}

function isKept({ schema, default: preset }: Field, { keepsNull = false }: Reading): boolean {
  return keepsNull && schema.lenient === true && preset === undefined
}

/** A value of the form that its description gives it, or of one of its forms. Without a vendor it is taken as it is. */
function readPruned(schema: AnySchema, value: Json, path: FieldPath, reading: Reading): Json {
  const { described, alternatives } = schema
  const { vendor } = reading
  if (vendor === undefined) return value
  if (described !== undefined) return readObject(described(vendor), value, path, reading)
  if (isObject(value)) return read(alternatives!.object.schema, value, path, reading)
  const items = Array.isArray(value) ? alternatives?.list?.items : undefined
  if (items !== undefined) return (value as Json[]).map((item, i) => readItem(items, item, at(path, i), reading))
  return typeof value === 'boolean' && alternatives?.boolean !== undefined ? value : wrongType(path, value, 'object')
}

/** A value of another type than its schema wants: no member of it is known. */
function withoutMembers(value: Json, path: FieldPath, reading: Reading): Json {
  if (Array.isArray(value)) return value.map((item, i) => withoutMembers(item, at(path, i), reading))
  if (!isObject(value)) return value
  for (const key of Object.keys(value)) reading.unknown.push(child(path, key))
  return {}
}

function readMap(schema: MapSchema, value: Json, path: FieldPath, reading: Reading): Json {
  if (!isObject(value)) return wrongForm(path, value, 'map')
  const result: JsonObject = {}
  for (const key of Object.keys(value)) {
    const item = value[key]!
    if (item === null && schema.values.lenient && !reading.keepsNull && !matchesType(schema.values, null)) continue
    setKey(result, key, readItem(schema.values, item, at(path, key), reading))
  }
  return result
}

function readList(schema: ListSchema, value: Json, path: FieldPath, reading: Reading): Json {
  if (!Array.isArray(value)) return wrongForm(path, value, 'slice')
  return value.map((item, i) => readItem(schema.items, item, at(path, i), reading))
}

function readItem(schema: Schema, item: Json, path: FieldPath, reading: Reading): Json {
  return item === null && !schema.lenient ? zeroOf(schema, reading) : read(schema, item, path, reading)
}

function readInteger(schema: IntegerSchema, value: Json, path: FieldPath): Json {
  if (typeof value === 'bigint')
    return schema.bits === 64 && BigInt.asIntN(64, value) === value ? value : outOfRange(path, value, schema.bits)
  if (typeof value !== 'number') return wrongType(path, value, `int${schema.bits}`)
  if (!Number.isInteger(value)) return wrongType(path, value, `int${schema.bits}`)
  if (schema.bits === 32 && (value | 0) !== value) return outOfRange(path, value, 32)
  if (!Number.isSafeInteger(value)) return outOfRange(path, value, 64)
  return value === 0 ? 0 : value
}

function readBase64(value: string, path: FieldPath): string {
  const packed = value.includes('\n') || value.includes('\r') ? value.replaceAll(/[\r\n]/g, '') : value
  const canonical = canonicalBase64(packed)
  if (canonical === undefined) throw badRequest(`${path}: illegal base64 data: use the standard alphabet with padding`)
  return canonical
}

/** Where a pattern is quicker than decoding the bytes. */
const short = 64
const canonicalForm = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/

/**
 * The last letters of a padded text, which may hold bits that belong to no byte: `YR==` and `YQ==` are the same `a`.
 */
const paddedEnd = /^[A-Za-z0-9+/]{2}(?:=|[A-Za-z0-9+/])=$/

/**
 * The one way to write these bytes; undefined when the text is not base64. Node takes anything for base64 and drops
 * what it cannot read, so a text counts only if it is its own encoding, but for what its last letters hold beyond the
 * bytes.
 */
function canonicalBase64(text: string): string | undefined {
  if (text.length <= short && canonicalForm.test(text)) return text
  const canonical = Buffer.from(text, 'base64').toString('base64')
  if (canonical === text) return canonical
  const same = canonical.length === text.length && canonical.slice(0, -4) === text.slice(0, -4)
  return same && paddedEnd.test(text.slice(-4)) ? canonical : undefined
}

function readTime(value: string, micro: boolean, path: FieldPath): string {
  const normal = normalTime(value, micro)
  if (normal !== undefined) return normal
  const form = `"2006-01-02T15:04:05${micro ? '.000000' : ''}Z"`
  throw badRequest(`${path}: ${JSON.stringify(shorten(value, 100))} is not a time: use RFC 3339, as in ${form}`)
}

/** A number is a quantity without a suffix. */
function readQuantity(value: Json, path: FieldPath): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    return wrongType(path, value, 'quantity')
  const text = String(value)
  const canonical = canonicalQuantity(text.trim())
  if (canonical === undefined)
    throw badRequest(
      `${path}: ${JSON.stringify(shorten(text, 100))} is not a quantity: use a number with a suffix or an exponent, as in "500m", "1.5Gi" or "1e3"`,
    )
  return canonical
}

/** What stands for a value that was sent as null or not at all. */
function zeroOf(schema: Schema, reading: Reading): Json {
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
      return readObject(schema, {}, '', reading)
    default:
      return schema satisfies never
  }
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

/** Without a list of all the keys: there may be very many. */
function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true
  return false
}

function wrongType(path: FieldPath, value: Json, wanted: string): never {
  throw badRequest(`${path || 'the body'}: expected ${wanted}, got ${typeName(value)}`)
}

/** Clients look for the first words, which are those of the reference. */
const forms = {
  map: ['cannot restore map from', 'object'],
  slice: ['cannot restore slice from', 'array'],
  struct: ['cannot restore struct from:', 'object'],
} as const

function wrongForm(path: FieldPath, value: Json, form: keyof typeof forms): never {
  const [words, wanted] = forms[form]
  throw badRequest(`${path || 'the body'}: ${words} ${formName(value)}; expected ${wanted}, got ${typeName(value)}`)
}

function formName(value: Json): string {
  if (Array.isArray(value)) return 'slice'
  if (isObject(value)) return 'map'
  return typeof value === 'number' && !Number.isInteger(value) ? 'float64' : numberName(typeName(value))
}

function numberName(name: string): string {
  return name === 'number' ? 'int64' : name
}

function outOfRange(path: FieldPath, value: number | bigint, bits: number): never {
  throw badRequest(`${path}: ${value} does not fit a ${bits}-bit integer`)
}

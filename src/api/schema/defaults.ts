/**
 * Applies defaults. Some defaults are in the schema, and a type can derive others from sibling fields.
 *
 * In a user-defined schema, defaults can contain nested defaults, so a few bytes of input can expand to a very large
 * object. The total size of applied defaults is therefore counted and limited (`Room`).
 */

import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
import { containsSchema } from './contains-schema.ts'
import type { RuleContext } from './context.ts'
import { PresentFields } from './present-fields.ts'
import type { ObjectSchema, Schema } from './schema.ts'

/** Whether any part of a schema has a default. Schemas without defaults are skipped. */
export const hasDefaults = containsSchema(
  (schema) =>
    schema.ifNull !== undefined ||
    (schema.type === 'object' &&
      (schema.fill !== undefined || Object.values(schema.fields).some((field) => field.default !== undefined))),
)

/** The size of a default value, for the size limit. */
export interface Size {
  readonly bytes: number
  /** Number of JSON values, including nested ones and the value itself. */
  readonly values: number
}

/** Limits the total size of the defaults that are added to an object. */
export class Room {
  #bytes: number
  #values: number

  constructor({ bytes, values }: Size) {
    this.#bytes = bytes
    this.#values = values
  }

  /** Subtracts the size of a default. Returns false if the limit is exceeded. */
  take({ bytes, values }: Size): boolean {
    this.#bytes -= bytes
    this.#values -= values
    return this.#bytes >= 0 && this.#values >= 0
  }
}

/** The context for default rules, and the remaining size for defaults. */
export interface Filling {
  readonly context: RuleContext
  /** The remaining size. If undefined, the size is unlimited. */
  readonly room?: Room
}

/** Elements of a path, last element first. */
type PathElements = (string | number)[]

/** Fields that have defaults (`stated`), and fields whose values may contain defaults (`below`). */
const concerned = memoizeByObject((schema: ObjectSchema) => {
  const fields = Object.entries(schema.fields)
  const below = fields.flatMap(([name, { schema }]) => (hasDefaults(schema) ? [{ name, schema }] : []))
  return {
    stated: fields.flatMap(([name, field]) =>
      field.default === undefined ? [] : [{ name, value: field.default, size: sizeOf(field.default, name.length + 4) }],
    ),
    below: new PresentFields(below, () => false),
  }
})

/**
 * Applies defaults to `value` in place. The value must be newly decoded and not shared. Returns the path at which the
 * limit was reached, last element first, or undefined if all defaults were applied.
 */
export function fillDefaults(schema: Schema, value: Json, filling: Filling): PathElements | undefined {
  if (!hasDefaults(schema)) return undefined
  switch (schema.type) {
    case 'object':
      return isObject(value) ? fillObject(schema, value, filling) : undefined
    case 'list':
      return Array.isArray(value) ? fillAll(schema.items, value, filling) : undefined
    case 'map':
      return isObject(value) ? fillAll(schema.values, value, filling) : undefined
    default:
      return undefined
  }
}

/** Like `fillDefaults`, but yields wherever the work can be interrupted. */
export function* fillSliced(schema: Schema, value: Json, filling: Filling): Generator<void, PathElements | undefined> {
  if (!hasDefaults(schema) || !isLarge(value)) return fillDefaults(schema, value, filling)
  yield
  if (schema.type === 'object' && isObject(value)) return yield* fillObjectSliced(schema, value, filling)
  if (schema.type === 'list' && Array.isArray(value)) return yield* fillPartsSliced(schema.items, value, filling)
  return schema.type === 'map' && isObject(value) ? yield* fillPartsSliced(schema.values, value, filling) : undefined
}

function* fillObjectSliced(
  schema: ObjectSchema,
  value: JsonObject,
  filling: Filling,
): Generator<void, PathElements | undefined> {
  const over = fillMembers(schema, value, filling)
  if (over !== undefined) return over
  for (const { name, schema: type } of concerned(schema).below.of(value)) {
    const present = own(value, name)
    const inner = present === undefined || present === null ? undefined : yield* fillSliced(type, present, filling)
    if (inner !== undefined) return [...inner, name]
  }
  return undefined
}

function* fillPartsSliced(
  schema: Schema,
  whole: Json[] | JsonObject,
  filling: Filling,
): Generator<void, PathElements | undefined> {
  let parts = 0
  for (const [key, item] of Array.isArray(whole) ? whole.entries() : Object.entries(whole)) {
    if (++parts % partsPerSlice === 0) yield
    const value = fillNull(schema, { whole, key, item: item! }, filling)
    const over = value === undefined ? [] : yield* fillSliced(schema, value, filling)
    if (over !== undefined) return [...over, key]
  }
  return undefined
}

/** Whether the value has all defaults, so that `fillDefaults` would not change it. */
export function hasAllDefaults(schema: Schema, value: Json): boolean {
  if (!hasDefaults(schema)) return true
  switch (schema.type) {
    case 'object':
      return !isObject(value) || objectHasAll(schema, value)
    case 'list':
      return !Array.isArray(value) || value.every((item) => isFilled(schema.items, item))
    case 'map':
      return !isObject(value) || Object.keys(value).every((key) => isFilled(schema.values, value[key]!))
    default:
      return true
  }
}

function isFilled(schema: Schema, item: Json): boolean {
  return !(item === null && schema.ifNull !== undefined) && hasAllDefaults(schema, item)
}

/**
 * Whether an object has all its defaults. Returns false for types with derived defaults, which are unknown until they
 * are computed.
 */
function objectHasAll(schema: ObjectSchema, value: JsonObject): boolean {
  if (schema.fill !== undefined) return false
  const { stated, below } = concerned(schema)
  if (stated.some(({ name }) => own(value, name) === undefined)) return false
  for (const { name, schema: type } of below.of(value)) {
    const present = own(value, name)
    if (present !== undefined && present !== null && !hasAllDefaults(type, present)) return false
  }
  return true
}

/** Replaces nulls in a list or map with their default. Then applies defaults to all elements or values. */
function fillAll(schema: Schema, whole: Json[] | JsonObject, filling: Filling): PathElements | undefined {
  for (const [key, item] of Array.isArray(whole) ? whole.entries() : Object.entries(whole)) {
    const value = fillNull(schema, { whole, key, item: item! }, filling)
    const over = value === undefined ? [] : fillDefaults(schema, value, filling)
    if (over !== undefined) return [...over, key]
  }
  return undefined
}

interface PartToFill {
  readonly whole: Json[] | JsonObject
  readonly key: string | number
  readonly item: Json
}

/**
 * Returns the item of a list or map, or the default if the item is null. Returns undefined if the limit has been
 * reached.
 */
function fillNull({ ifNull }: Schema, { whole, key, item }: PartToFill, { room }: Filling): Json | undefined {
  if (item !== null || ifNull === undefined) return item
  if (room?.take(sizeOf(ifNull)) === false) return undefined
  const value = copyOf(ifNull)
  setKey(whole as JsonObject, String(key), value)
  return value
}

/** Applies the defaults of the fields first, then derived defaults, then the defaults of nested values. */
function fillObject(schema: ObjectSchema, value: JsonObject, filling: Filling): PathElements | undefined {
  const none = fillMembers(schema, value, filling)
  if (none !== undefined) return none
  for (const { name, schema: type } of concerned(schema).below.of(value)) {
    const present = own(value, name)
    const over = present === undefined || present === null ? undefined : fillDefaults(type, present, filling)
    if (over !== undefined) return [...over, name]
  }
  return undefined
}

/** Applies the defaults of missing members. */
function fillMembers(schema: ObjectSchema, value: JsonObject, filling: Filling): PathElements | undefined {
  for (const { name, value: given, size } of concerned(schema).stated) {
    if (own(value, name) !== undefined) continue
    if (filling.room?.take(size) === false) return [name]
    setKey(value, name, copyOf(given))
  }
  schema.fill?.(value, filling.context)
  return undefined
}

/** Copies a default value deeply, so that objects do not share it. */
export function copyOf(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) setKey(copy, key, copyOf(value[key]!))
  return copy
}

/** Returns the approximate size of a value as JSON, plus `more` bytes. Escape sequences are not counted. */
export function sizeOf(value: Json | undefined, more = 0): Size {
  const size = { bytes: more, values: 0 }
  addSize(value, size)
  return size
}

/** Like `sizeOf`, but yields wherever the work can be interrupted. */
export function* sizeSliced(value: Json | undefined): Generator<void, Size> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) return sizeOf(value)
  yield
  const isList = Array.isArray(value)
  const size = { bytes: isList ? value.length + 1 : 2, values: 1 }
  let parts = 0
  for (const key of Object.keys(value)) {
    if (++parts % partsPerSlice === 0) yield
    const { bytes, values } = yield* sizeSliced((value as JsonObject)[key])
    size.bytes += isList ? bytes : bytes + key.length + 4
    size.values += values
  }
  return size
}

function addSize(value: Json | undefined, size: { bytes: number; values: number }): void {
  size.values += 1
  if (typeof value === 'string') size.bytes += Buffer.byteLength(value) + 2
  else if (typeof value !== 'object' || value === null) size.bytes += 5
  else if (Array.isArray(value)) {
    size.bytes += value.length + 1
    for (const item of value) addSize(item, size)
  } else {
    size.bytes += 2
    for (const key in value) {
      size.bytes += key.length + 4
      addSize(value[key], size)
    }
  }
}

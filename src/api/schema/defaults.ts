/**
 * Fills in defaults: those that the schema states, and those that its types work out from sibling fields.
 *
 * A user who writes a schema decides how much a few bytes become: defaults have defaults below them. So what they add to
 * a value is counted while they are filled in, and stops where a limit is reached (`Room`).
 */

import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import { isLarge, partsPerStep } from '../json/large-json.ts'
import { containsSchema } from './contains-schema.ts'
import type { RuleContext } from './context.ts'
import { PresentFields } from './present-fields.ts'
import type { ObjectSchema, Schema } from './schema.ts'

/** Whether anything in the schema has a default. Most of a kind has none, and is not walked. */
export const hasDefaults = containsSchema(
  (schema) =>
    schema.ifNull !== undefined ||
    (schema.type === 'object' &&
      (schema.fill !== undefined || Object.values(schema.fields).some((field) => field.default !== undefined))),
)

/** How large a value is. */
export interface Size {
  readonly bytes: number
  /** Members and elements, with the value itself. */
  readonly values: number
}

/** How much more may be filled in. */
export class Room {
  #bytes: number
  #values: number

  constructor({ bytes, values }: Size) {
    this.#bytes = bytes
    this.#values = values
  }

  /** Whether there was room for it. */
  take({ bytes, values }: Size): boolean {
    this.#bytes -= bytes
    this.#values -= values
    return this.#bytes >= 0 && this.#values >= 0
  }
}

/** What is needed to fill in defaults. */
export interface Filling {
  readonly context: RuleContext
  /** Without it there is no limit. */
  readonly room?: Room
}

/** The steps to a place in a value, the last one first. */
type Steps = (string | number)[]

/** The fields of an object that have a default, and those below which there are some. */
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
 * Changes `value`, which must be freshly decoded and nobody else's. Gives the steps to the place where there was no room
 * left for a default, the last one first; undefined: all are filled in.
 */
export function fillDefaults(schema: Schema, value: Json, filling: Filling): Steps | undefined {
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

/** The same, with a yield where it can be interrupted. */
export function* fillSteps(schema: Schema, value: Json, filling: Filling): Generator<void, Steps | undefined> {
  if (!hasDefaults(schema) || !isLarge(value)) return fillDefaults(schema, value, filling)
  yield
  if (schema.type === 'object' && isObject(value)) return yield* objectSteps(schema, value, filling)
  if (schema.type === 'list' && Array.isArray(value)) return yield* partSteps(schema.items, value, filling)
  return schema.type === 'map' && isObject(value) ? yield* partSteps(schema.values, value, filling) : undefined
}

function* objectSteps(schema: ObjectSchema, value: JsonObject, filling: Filling): Generator<void, Steps | undefined> {
  const over = fillMembers(schema, value, filling)
  if (over !== undefined) return over
  for (const { name, schema: type } of concerned(schema).below.of(value)) {
    const present = own(value, name)
    const inner = present === undefined || present === null ? undefined : yield* fillSteps(type, present, filling)
    if (inner !== undefined) return [...inner, name]
  }
  return undefined
}

function* partSteps(schema: Schema, whole: Json[] | JsonObject, filling: Filling): Generator<void, Steps | undefined> {
  let parts = 0
  for (const [key, item] of Array.isArray(whole) ? whole.entries() : Object.entries(whole)) {
    if (++parts % partsPerStep === 0) yield
    const value = fillNull(schema, { whole, key, item: item! }, filling)
    const over = value === undefined ? [] : yield* fillSteps(schema, value, filling)
    if (over !== undefined) return [...over, key]
  }
  return undefined
}

/** Whether `fillDefaults` would add nothing. */
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

/** What a type works out from sibling fields is not known before it is worked out. */
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

/** The elements of a list, or the values of a map: nulls get their default first. */
function fillAll(schema: Schema, whole: Json[] | JsonObject, filling: Filling): Steps | undefined {
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

/** An element or value, or its default where it is null; undefined where there is no room for that. */
function fillNull({ ifNull }: Schema, { whole, key, item }: PartToFill, { room }: Filling): Json | undefined {
  if (item !== null || ifNull === undefined) return item
  if (room?.take(sizeOf(ifNull)) === false) return undefined
  const value = copyOf(ifNull)
  setKey(whole as JsonObject, String(key), value)
  return value
}

/** First what the fields state, then what depends on siblings, then what lies below. */
function fillObject(schema: ObjectSchema, value: JsonObject, filling: Filling): Steps | undefined {
  const none = fillMembers(schema, value, filling)
  if (none !== undefined) return none
  for (const { name, schema: type } of concerned(schema).below.of(value)) {
    const present = own(value, name)
    const over = present === undefined || present === null ? undefined : fillDefaults(type, present, filling)
    if (over !== undefined) return [...over, name]
  }
  return undefined
}

/** What an object itself lacks. */
function fillMembers(schema: ObjectSchema, value: JsonObject, filling: Filling): Steps | undefined {
  for (const { name, value: given, size } of concerned(schema).stated) {
    if (own(value, name) !== undefined) continue
    if (filling.room?.take(size) === false) return [name]
    setKey(value, name, copyOf(given))
  }
  schema.fill?.(value, filling.context)
  return undefined
}

/** A copy that is nobody else's. */
export function copyOf(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) setKey(copy, key, copyOf(value[key]!))
  return copy
}

/** How large a value is as JSON, about: what must be escaped in texts is not looked for. `more` bytes are added. */
export function sizeOf(value: Json | undefined, more = 0): Size {
  const size = { bytes: more, values: 0 }
  addSize(value, size)
  return size
}

/** The same, with a yield where it can be interrupted. */
export function* sizeSteps(value: Json | undefined): Generator<void, Size> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) return sizeOf(value)
  yield
  const isList = Array.isArray(value)
  const size = { bytes: isList ? value.length + 1 : 2, values: 1 }
  let parts = 0
  for (const key of Object.keys(value)) {
    if (++parts % partsPerStep === 0) yield
    const { bytes, values } = yield* sizeSteps((value as JsonObject)[key])
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

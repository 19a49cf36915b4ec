/**
 * Wraps JSON data as CEL values. Parts are converted only when a rule accesses them. Two wrapped values are equal if
 * their data is equal. For lists of type set or map, the order of elements does not matter.
 */
import { isObject, type Json, type JsonObject, own, sameJson } from '../json/json.ts'
import { type DeclaredType, fieldNamed } from './declared-type.ts'
import { readBase64, readDate, readDateTime, readSchemaDuration } from './time-text.ts'
import { types } from './types.ts'
import { CelError, CelList, CelMap, Double, type Value } from './values.ts'

/** Converts a JSON value to the CEL value of its declared type. */
export function fromJson(json: Json | undefined, declared: DeclaredType): Value {
  // Accept null for every type, because schema validation has already rejected null where it is not allowed.
  if (json === null || json === undefined) return null
  switch (declared.form) {
    case 'object':
      return isObject(json) ? new JsonFields(json, declared) : mismatch(declared)
    case 'map':
      return isObject(json) ? new JsonMap(json, declared) : mismatch(declared)
    case 'dynamic':
      return dynamicValue(json)
    case 'list':
      return Array.isArray(json) ? new JsonList(json, declared) : mismatch(declared)
    case 'number':
      return typeof json === 'number' || typeof json === 'bigint' ? new Double(Number(json)) : mismatch(declared)
    case 'integer':
      return typeof json === 'bigint' || Number.isInteger(json) ? (json as number | bigint) : mismatch(declared)
    case 'boolean':
      return typeof json === 'boolean' ? json : mismatch(declared)
    case 'int-or-string':
      return typeof json === 'bigint' || typeof json === 'string' || Number.isInteger(json)
        ? (json as number | bigint | string)
        : mismatch(declared)
    default:
      return typeof json === 'string' ? fromText(json, declared) : mismatch(declared)
  }
}

/** The declared type of data that has no schema. */
export const dynamicType: DeclaredType = {
  type: types.dyn,
  form: 'dynamic',
  maxElements: Number.POSITIVE_INFINITY,
  minBytes: 1,
}
const dynamicList: DeclaredType = { ...dynamicType, form: 'list', elem: dynamicType }
const dynamicMap: DeclaredType = { ...dynamicType, form: 'map', elem: dynamicType }

/** Converts JSON data without a schema. A number without a fraction becomes an int. */
export function dynamicValue(json: Json): Value {
  if (Array.isArray(json)) return new JsonList(json, dynamicList)
  if (isObject(json)) return new JsonMap(json, dynamicMap)
  return typeof json === 'number' && !Number.isSafeInteger(json) ? new Double(json) : json
}

function fromText(text: string, { form }: DeclaredType): Value {
  switch (form) {
    case 'bytes':
      return readBase64(text)
    case 'duration':
      return readSchemaDuration(text)
    case 'date':
      return readDate(text)
    case 'date-time':
      return readDateTime(text)
    default:
      return text
  }
}

function mismatch({ form }: DeclaredType): never {
  throw new CelError(`invalid data: expected a value of type ${form}`)
}

export class JsonList extends CelList {
  readonly json: readonly Json[]
  readonly declared: DeclaredType

  constructor(json: readonly Json[], declared: DeclaredType) {
    super()
    this.json = json
    this.declared = declared
  }

  get size(): number {
    return this.json.length
  }

  get(index: number): Value {
    return fromJson(this.json[index], this.declared.elem!)
  }

  toArray(): Value[] {
    return this.json.map((item) => fromJson(item, this.declared.elem!))
  }
}

/** A JSON object as a CEL map. All of its values have the same declared type. */
export class JsonMap extends CelMap {
  readonly json: JsonObject
  readonly declared: DeclaredType
  /** Listing many keys takes milliseconds, so the keys are listed only once. */
  #keys: readonly string[] | undefined
  /**
   * The nested maps that have been wrapped. Reusing the wrapped maps ensures that their keys are also listed only once.
   */
  #maps: Map<string, JsonMap> | undefined

  constructor(json: JsonObject, declared: DeclaredType) {
    super()
    this.json = json
    this.declared = declared
  }

  get size(): number {
    return this.keys().length
  }

  get(key: Value): Value | undefined {
    const value = typeof key === 'string' ? own(this.json, key) : undefined
    return value === undefined ? undefined : this.part(key as string, value, this.declared.elem!)
  }

  keys(): readonly string[] {
    this.#keys ??= Object.keys(this.json)
    return this.#keys
  }

  /** Returns the CEL value of a member. */
  protected part(key: string, value: Json, declared: DeclaredType): Value {
    const map = this.#maps?.get(key)
    if (map !== undefined) return map
    const part = fromJson(value, declared)
    if (part instanceof JsonMap) {
      this.#maps ??= new Map()
      this.#maps.set(key, part)
    }
    return part
  }
}

/** An object with declared fields. Rules cannot access other members. */
class JsonFields extends JsonMap {
  override get(key: Value): Value | undefined {
    const { fields, properties } = this.declared
    const field = fields && fieldNamed(fields, key as string)
    if (field === undefined) return undefined
    const value = own(this.json, properties?.get(key as string) ?? (key as string))
    return value === undefined ? undefined : this.part(key as string, value, field)
  }

  /** A field whose value is null is treated as absent, although rules can compare the field with null. */
  override has(key: Value): boolean {
    return (this.get(key) ?? null) !== null
  }
}

/**
 * Whether two JSON values are equal according to their declared type. Calls `work` with the number of compared parts.
 */
export function sameData(a: Json | undefined, b: Json | undefined, comparing: Comparing): boolean {
  const { declared, work } = comparing
  work(1)
  if (a === b) return true
  if (declared === undefined) return sameJson(a, b)
  if (Array.isArray(a) && Array.isArray(b) && declared.form === 'list') return sameLists(a, b, comparing)
  if (isObject(a) && isObject(b)) return sameObjects(a, b, comparing)
  if (typeof a === 'string' && typeof b === 'string' && /^(date|duration|bytes)/.test(declared.form))
    return formattedText(a, declared) === formattedText(b, declared)
  return sameJson(a, b)
}

export interface Comparing {
  /** Declared type of both values. Undefined to compare them as plain JSON. */
  readonly declared: DeclaredType | undefined
  readonly work: (parts: number) => void
}

/** Returns a string that is the same for equal times, durations or bytes, even if their notation differs. */
function formattedText(text: string, declared: DeclaredType): string {
  const value = fromText(text, declared)
  return value instanceof Uint8Array
    ? Buffer.from(value).toString('base64')
    : String((value as { nanos: bigint }).nanos)
}

function sameObjects(a: JsonObject, b: JsonObject, { declared, work }: Comparing): boolean {
  const keys = Object.keys(a)
  work(keys.length)
  if (keys.length !== Object.keys(b).length) return false
  const nameOf = declared?.form === 'object' ? propertyNames(declared) : undefined
  return keys.every((key) => {
    const part = nameOf === undefined ? declared?.elem : declared?.fields?.get(nameOf.get(key) ?? key)
    return Object.hasOwn(b, key) && sameData(a[key], b[key], { declared: part, work })
  })
}

/** Returns the field names used in rules, by JSON name. The map contains only fields whose two names differ. */
function propertyNames({ properties }: DeclaredType): ReadonlyMap<string, string> {
  return new Map([...(properties ?? [])].map(([name, property]) => [property, name]))
}

function sameLists(a: readonly Json[], b: readonly Json[], { declared, work }: Comparing): boolean {
  if (a.length !== b.length) return false
  const { elem, list, keys = [] } = declared!
  if (list === undefined || list === 'atomic')
    return a.every((item, i) => sameData(item, b[i], { declared: elem, work }))
  const identify = (item: Json) => identityOf(item, list === 'map' ? keys : undefined)
  work(a.length)
  const itemsByKey = new Map(a.map((item) => [identify(item), item]))
  return b.every((item) => {
    const key = identify(item)
    return itemsByKey.has(key) && (list === 'set' || sameData(itemsByKey.get(key), item, { declared: elem, work }))
  })
}

/** Returns a key that identifies an element of a `set` or `map` list. */
export function identityOf(item: Json, keys: readonly string[] | undefined): string {
  const identity = keys === undefined ? item : keys.map((key) => (isObject(item) ? (own(item, key) ?? null) : null))
  return JSON.stringify(identity, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
}

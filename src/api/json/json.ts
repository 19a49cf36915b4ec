/**
 * JSON values in memory: plain objects as created by `JSON.parse`, with integers beyond 2^53 as bigint.
 *
 * A user-defined key can be any string, including `__proto__` and `constructor`. Objects with user-defined keys must be
 * read with `own` or `Object.entries`, and written with `setKey`, spread or `Object.fromEntries`, which treat
 * `__proto__` like any other key. Never use `object[key] = value`.
 */
import { noteKey } from './backslash-keys.ts'

/** Any JSON value. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
/** A JSON object. Members whose value is undefined count as absent. */
export interface JsonObject {
  [key: string]: Json | undefined
}

/** Returns the value of an object's own key, never of an inherited key. */
export function own(object: JsonObject, key: string): Json | undefined {
  const value = object[key]
  return value !== undefined && Object.hasOwn(object, key) ? value : undefined
}

/** Sets a key of an object to a value. The key can have any name, including `__proto__`. */
export function setKey(object: JsonObject, key: string, value: Json): void {
  noteKey(key)
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[key] = value
  }
}

/** Whether a value is a JSON object, which excludes lists and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Whether two JSON values are deeply equal, regardless of their static types. Key order does not matter, and members
 * whose value is undefined count as absent.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  return sameMembers(a, b)
}

function sameMembers(a: JsonObject, b: JsonObject): boolean {
  let uncomparedKeys = 0
  for (const key of Object.keys(b)) if (b[key] !== undefined) uncomparedKeys++
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue
    if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false
    uncomparedKeys--
  }
  return uncomparedKeys === 0
}

/** Returns a readable type name of a value, for messages. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return typeof value
}

/** Returns the keys of an object, typed as the keys that the object type declares. */
export function keysOf<T extends object>(object: T): (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[]
}

/** Returns a copy of an object without members whose value is undefined. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}

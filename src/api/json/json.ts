/**
 * JSON values as they live in memory: plain objects as `JSON.parse` makes them, integers beyond 2^53 as bigint.
 *
 * A user's key may be any string, `__proto__` and `constructor` included. So objects with users' keys are read with
 * `own` or `Object.entries`, and written with `setKey`, spread or `Object.fromEntries`, which all treat `__proto__`
 * as a key like any other; never with `object[key] = value`.
 */
import { noteKey } from './backslash-keys.ts'

/** Any JSON value. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
/** A JSON object. A member that is undefined is not there. */
export interface JsonObject {
  [key: string]: Json | undefined
}

/** The value under a key of the object itself, never one inherited. */
export function own(object: JsonObject, key: string): Json | undefined {
  const value = object[key]
  return value !== undefined && Object.hasOwn(object, key) ? value : undefined
}

/** Sets a key of the object itself, whatever its name. */
export function setKey(object: JsonObject, key: string, value: Json): void {
  noteKey(key)
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[key] = value
  }
}

/** Whether it is a JSON object: neither a list nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Deep equality of two values that are JSON, whatever their types say; key order does not count, and a member that is
 * undefined is not there.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  return sameMembers(a, b)
}

function sameMembers(a: JsonObject, b: JsonObject): boolean {
  let left = 0
  for (const key of Object.keys(b)) if (b[key] !== undefined) left++
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue
    if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false
    left--
  }
  return left === 0
}

/** What a person would call the type of a value, for messages. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return typeof value
}

/** The keys of an object whose type names all of them. */
export function keysOf<T extends object>(object: T): (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[]
}

/** The members that have a value. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}

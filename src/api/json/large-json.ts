/**
 * Detects values that are so large that traversing them would noticeably delay other work. Such values are processed in
 * slices (base/concurrency/time-slice.ts). All other values are processed at once.
 */
import { isObject, type Json, type JsonObject, sameJson } from './json.ts'

/**
 * Minimum number of nested values for a value to count as large. Processing this many values takes about a hundred
 * microseconds.
 */
const manyValues = 1000

/**
 * Number of members or elements of a large value to process between yields. Processing them takes at most a few
 * milliseconds, even if each part is only slightly smaller than a large value.
 */
export const partsPerSlice = 10

/**
 * Whether a value contains too many values to be processed without yielding. The check itself traverses all keys of a
 * large object, because JavaScript has no other way to access the first keys. The caller should therefore yield after a
 * positive result.
 */
export function isLarge(value: Json | undefined): boolean {
  return leftAfter(value, manyValues) < 0
}

/**
 * Objects that are known to have many keys. The result is cached because the same objects are checked repeatedly and do
 * not change.
 */
const wide = new WeakSet<JsonObject>()
/**
 * Number of keys above which accessing even the first key of an object takes longer than visiting the same number of
 * values.
 */
const manyKeys = manyValues / 2

/**
 * Subtracts the number of values inside a value from `count`. Returns a negative number if the value contains more than
 * `count` values.
 */
function leftAfter(value: Json | undefined, count: number): number {
  let remainingValues = count - 1
  if (typeof value !== 'object' || value === null) return remainingValues
  if (Array.isArray(value)) {
    if (value.length > remainingValues) return -1
    for (const item of value) {
      remainingValues = leftAfter(item, remainingValues)
      if (remainingValues < 0) return remainingValues
    }
    return remainingValues
  }
  if (wide.has(value)) return -1
  let members = 0
  for (const key in value) {
    remainingValues = leftAfter(value[key], remainingValues)
    if (++members === manyKeys) wide.add(value)
    if (remainingValues < 0) return remainingValues
  }
  return remainingValues
}

/** Compares two values like `sameJson`, but yields periodically so that other work can run. */
export function* sameJsonSliced(a: Json | undefined, b: Json | undefined): Generator<void, boolean> {
  if (a === b || !isLarge(a)) return sameJson(a, b)
  yield
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && (yield* sameElementsSliced(a, b))
  return isObject(a) && isObject(b) && (yield* sameMembersSliced(a, b))
}

function* sameElementsSliced(a: readonly Json[], b: readonly Json[]): Generator<void, boolean> {
  for (let i = 0; i < a.length; i++) {
    if (i % partsPerSlice === 0) yield
    if (!(yield* sameJsonSliced(a[i], b[i]))) return false
  }
  return true
}

function* sameMembersSliced(a: JsonObject, b: JsonObject): Generator<void, boolean> {
  let members = 0
  for (const key of Object.keys(a)) {
    if (++members % partsPerSlice === 0) yield
    if (a[key] === undefined) continue
    if (!Object.hasOwn(b, key) || !(yield* sameJsonSliced(a[key], b[key]))) return false
  }
  yield
  return Object.keys(b).every((key) => b[key] === undefined || (Object.hasOwn(a, key) && a[key] !== undefined))
}

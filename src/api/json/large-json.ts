/**
 * Values that are so large that going through them takes long enough for others to notice. Work on them is split
 * (base/concurrency/time-slice.ts); all others, which are nearly all, are spared what that costs.
 */
import { isObject, type Json, type JsonObject, sameJson } from './json.ts'

/** Some hundred microseconds of work. */
const manyValues = 1000

/**
 * How many members or elements of a large value are worked on between two places where that can be interrupted. Each may itself
 * hold almost as many values as a large one, and is worked on at once: together they must take some milliseconds at most.
 */
export const partsPerStep = 10

/**
 * Whether a value holds more values than can be worked on in a moment. Of a large object all keys are gone through, as
 * there is no other way to the first of them: where it is, that is time to yield.
 */
export function isLarge(value: Json | undefined): boolean {
  return leftAfter(value, manyValues) < 0
}

/** Objects with many keys: they are asked about again and again, and stay what they are. */
const wide = new WeakSet<JsonObject>()
/** From here on it takes longer to find the first of the keys than to go through as many values. */
const manyKeys = manyValues / 2

/** How many of so many are left after the values in this one are counted; below zero where they do not suffice. */
function leftAfter(value: Json | undefined, count: number): number {
  let left = count - 1
  if (typeof value !== 'object' || value === null) return left
  if (Array.isArray(value)) {
    if (value.length > left) return -1
    for (const item of value) {
      left = leftAfter(item, left)
      if (left < 0) return left
    }
    return left
  }
  if (wide.has(value)) return -1
  let members = 0
  for (const key in value) {
    left = leftAfter(value[key], left)
    if (++members === manyKeys) wide.add(value)
    if (left < 0) return left
  }
  return left
}

/** The same as `sameJson`, with a yield where it can be interrupted. */
export function* sameJsonSteps(a: Json | undefined, b: Json | undefined): Generator<void, boolean> {
  if (a === b || !isLarge(a)) return sameJson(a, b)
  yield
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && (yield* sameElementSteps(a, b))
  return isObject(a) && isObject(b) && (yield* sameMemberSteps(a, b))
}

function* sameElementSteps(a: readonly Json[], b: readonly Json[]): Generator<void, boolean> {
  for (let i = 0; i < a.length; i++) {
    if (i % partsPerStep === 0) yield
    if (!(yield* sameJsonSteps(a[i], b[i]))) return false
  }
  return true
}

function* sameMemberSteps(a: JsonObject, b: JsonObject): Generator<void, boolean> {
  let members = 0
  for (const key of Object.keys(a)) {
    if (++members % partsPerStep === 0) yield
    if (a[key] === undefined) continue
    if (!Object.hasOwn(b, key) || !(yield* sameJsonSteps(a[key], b[key]))) return false
  }
  yield
  return Object.keys(b).every((key) => b[key] === undefined || (Object.hasOwn(a, key) && a[key] !== undefined))
}

/**
 * Values that are so large that going through them takes long enough for others to notice. Work on them is split
 * (base/time-slice.ts); all others, which are nearly all, are spared what that costs.
 */
import type { Json } from './json.ts'

/** Some hundred microseconds of work. */
const manyValues = 1000

/** How many members or elements of a large value are worked on between two places where that can be interrupted. */
export const partsPerStep = 500

/**
 * Whether a value holds more values than can be worked on in a moment. Of a large object all keys are gone through, as
 * there is no other way to the first of them: where it is, that is time to yield.
 */
export function isLarge(value: Json | undefined): boolean {
  return leftAfter(value, manyValues) < 0
}

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
  for (const key in value) {
    left = leftAfter(value[key], left)
    if (left < 0) return left
  }
  return left
}

/** Compares the order of list elements, which field sets do not contain. */
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, own } from '../json/json.ts'
import { partsPerSlice } from '../json/large-json.ts'
import type { Schema } from '../schema/schema.ts'
import { itemElement } from './path-elements.ts'
import { hasElements, hasMembers, memberSchema } from './shape.ts'

/**
 * Whether both values have their list elements in the same order. The lists must contain the same elements. Yields
 * periodically.
 */
export function* hasSameOrder(schema: Schema, before: Json | undefined, after: Json | undefined): Sliced<boolean> {
  if (before === after) return true
  if (hasMembers(schema) && isObject(before) && isObject(after)) {
    let members = 0
    for (const name of Object.keys(after)) {
      if (++members % partsPerSlice === 0) yield
      if (!(yield* hasSameOrder(memberSchema(schema, name), own(before, name), after[name]))) return false
    }
    return true
  }
  if (!hasElements(schema) || !Array.isArray(before) || !Array.isArray(after)) return true
  for (const [i, item] of after.entries()) {
    if (i % partsPerSlice === partsPerSlice - 1) yield
    const other = before[i]
    if (other === undefined || itemElement(schema, other) !== itemElement(schema, item)) return false
    if (!(yield* hasSameOrder(schema.items, other, item))) return false
  }
  return true
}

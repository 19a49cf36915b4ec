/**
 * Finds elements of sets and keyed lists that have the same value or keys, such as two ports with the same number.
 * Before 1.29, Kubernetes does not track the owners of an object that contains such elements, and rejects every apply
 * to the object until an update or patch has removed the duplicates. Later versions treat elements with the same keys
 * as one value (compare.ts).
 */
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { ApiError } from '../model/api-error.ts'
import { causeOf, duplicate, type FieldError, summary } from '../model/field-error.ts'
import { containsSchema } from '../schema/contains-schema.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { type EmulatedVersion, isAtLeast } from '../versions/emulated-version.ts'
import { ListFaultSearch } from './list-faults.ts'
import { itemElement, keyOf } from './path-elements.ts'
import { hasElements } from './shape.ts'

/**
 * Whether this version rejects an apply to an object with duplicate elements, and does not track the owners of such an
 * object.
 */
export function rejectsDuplicates(version: EmulatedVersion): boolean {
  return !isAtLeast(version, '1.29')
}

/** Throws an error if the live object contains duplicate elements. Yields periodically. */
export function* refuseDuplicates(schema: Schema, live: Json): Generator<void, void> {
  const error = yield* findDuplicate(schema, live)
  if (error === undefined) return
  const why =
    'two elements of the object, which can still be updated or patched, have the key that their list is merged by'
  throw new ApiError(422, 'Invalid', `${why}: ${summary([error])}`, { causes: [causeOf(error)] })
}

/** Returns an error for the first duplicate element. Yields periodically. */
export function findDuplicate(schema: Schema, value: Json): Generator<void, FieldError | undefined> {
  return duplicateElements.find(schema, value)
}

const duplicateElements = new ListFaultSearch({
  mayHold: containsSchema(hasElements),
  checkOf: (schema) => {
    const known = new Set<string>()
    return (item, path) => {
      const step = itemElement(schema, item)
      if (known.has(step)) return duplicate(path, isObject(item) ? keysOf(schema, item) : item)
      known.add(step)
      return undefined
    }
  },
})

function keysOf(schema: ListSchema, item: JsonObject): JsonObject {
  return Object.fromEntries((schema.keys ?? []).map((name) => [name, keyOf(schema, item, name)]))
}

/**
 * Rejects elements of keyed lists that lack a key. If the key is required and has no default, such an element cannot be
 * identified and no manager can own it. An apply with such an element is rejected with 422 and the path of the element.
 * If the live object contains such an element, every apply is rejected until an update or patch has added the key.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { isObject, type Json, own } from '../json/json.ts'
import { ApiError } from '../model/api-error.ts'
import { causeOf, child, type FieldError, type FieldPath, required, summary } from '../model/field-error.ts'
import { containsSchema } from '../schema/contains-schema.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { ListFaultSearch } from './list-faults.ts'

/**
 * Throws an error if a list contains an element without a required key. In the error message, `whose` names the object
 * that contains the list. Yields periodically.
 */
export function* refuseKeyless(schema: Schema, value: Json, whose: string): Generator<void, void> {
  const error = yield* keylessElements.find(schema, value)
  if (error === undefined) return
  const why = `an element of ${whose} omits the key that its list is merged by`
  throw new ApiError(422, 'Invalid', `${why}: ${summary([error])}`, { causes: [causeOf(error)] })
}

const keylessElements = new ListFaultSearch({
  mayHold: containsSchema((schema) => schema.type === 'list' && neededKeys(schema).length > 0),
  checkOf: (schema) => (item, path) => keyless(schema, item, path),
})

const neededKeys = memoizeByObject(({ list, keys = [], items }: ListSchema): readonly string[] => {
  if (list !== 'map' || items.type !== 'object') return []
  const { fields } = items
  return keys.filter((name) => Object.hasOwn(fields, name) && mustBeSent(fields[name]!))
})

function mustBeSent({ zeroValue, default: given }: { zeroValue: string; default?: Json }): boolean {
  return zeroValue !== 'write' && given === undefined
}

/** Returns an error if the element lacks a required key. */
function keyless(schema: ListSchema, item: Json, path: FieldPath): FieldError | undefined {
  const missing = isObject(item) ? neededKeys(schema).find((name) => own(item, name) === undefined) : undefined
  return missing === undefined ? undefined : required(child(path, missing), 'the list is merged by this key')
}

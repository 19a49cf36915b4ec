/**
 * Rejects elements of keyed lists that lack a key. If the key is required and has no default, such an element cannot be
 * identified and no manager can own it. An apply with such an element is rejected with 422 and the path of the element.
 * If the live object contains such an element, every apply is rejected until an update or patch has added the key.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { isObject, type Json, type JsonObject, own } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
import { ApiError } from '../model/api-error.ts'
import { at, causeOf, child, type FieldError, type FieldPath, required, summary } from '../model/field-error.ts'
import { containsSchema } from '../schema/contains-schema.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { hasElements, hasMembers, type Membered, memberSchema } from './shape.ts'

/**
 * Throws an error if a list contains an element without a required key. `whose` describes the position of the element
 * in the message. Yields periodically.
 */
export function* refuseKeyless(schema: Schema, value: Json, whose: string): Generator<void, void> {
  const error = yield* findSliced(schema, value, '')
  if (error === undefined) return
  const why = `an element of ${whose} omits the key that its list is merged by`
  throw new ApiError(422, 'Invalid', `${why}: ${summary([error])}`, { causes: [causeOf(error)] })
}

/**
 * Whether a schema can contain a list element without a required key. Most parts of an object cannot, so they are not
 * traversed.
 */
const mayHold = containsSchema((schema) => schema.type === 'list' && neededKeys(schema).length > 0)

const neededKeys = memoizeByObject(({ list, keys = [], items }: ListSchema): readonly string[] => {
  if (list !== 'map' || items.type !== 'object') return []
  const { fields } = items
  return keys.filter((name) => Object.hasOwn(fields, name) && mustBeSent(fields[name]!))
})

function mustBeSent({ zeroValue, default: given }: { zeroValue: string; default?: Json }): boolean {
  return zeroValue !== 'write' && given === undefined
}

/** Returns an error for only the first element without a required key, because there may be thousands. */
function find(schema: Schema, value: Json, path: FieldPath): FieldError | undefined {
  if (!mayHold(schema)) return undefined
  if (hasMembers(schema) && isObject(value)) {
    for (const name of Object.keys(value)) {
      const item = value[name]
      const keylessPath = item === undefined ? undefined : find(memberSchema(schema, name), item, child(path, name))
      if (keylessPath !== undefined) return keylessPath
    }
  } else if (hasElements(schema) && Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const keylessPath = keyless(schema, item, at(path, i)) ?? find(schema.items, item, at(path, i))
      if (keylessPath !== undefined) return keylessPath
    }
  }
  return undefined
}

/** Returns an error if the element lacks a required key. */
function keyless(schema: ListSchema, item: Json, path: FieldPath): FieldError | undefined {
  const missing = isObject(item) ? neededKeys(schema).find((name) => own(item, name) === undefined) : undefined
  return missing === undefined ? undefined : required(child(path, missing), 'the list is merged by this key')
}

type SlicedFieldError = Generator<void, FieldError | undefined>

/** Like `find`, but yields periodically. */
function* findSliced(schema: Schema, value: Json, path: FieldPath): SlicedFieldError {
  if (!mayHold(schema) || !isLarge(value)) return find(schema, value, path)
  yield
  if (hasMembers(schema) && isObject(value)) return yield* findInMembers(schema, value, path)
  return hasElements(schema) && Array.isArray(value) ? yield* findInElements(schema, value, path) : undefined
}

function* findInMembers(schema: Membered, value: JsonObject, path: FieldPath): SlicedFieldError {
  let members = 0
  for (const name of Object.keys(value)) {
    if (++members % partsPerSlice === 0) yield
    const item = value[name]
    const type = memberSchema(schema, name)
    const keylessPath =
      item !== undefined && mayHold(type) ? yield* findSliced(type, item, child(path, name)) : undefined
    if (keylessPath !== undefined) return keylessPath
  }
  return undefined
}

function* findInElements(schema: ListSchema, value: readonly Json[], path: FieldPath): SlicedFieldError {
  const looksInto = mayHold(schema.items)
  for (const [i, item] of value.entries()) {
    if (i % partsPerSlice === 0) yield
    const inner = looksInto ? yield* findSliced(schema.items, item, at(path, i)) : undefined
    const keylessPath = keyless(schema, item, at(path, i)) ?? inner
    if (keylessPath !== undefined) return keylessPath
  }
  return undefined
}

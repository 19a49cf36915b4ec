/**
 * Elements of keyed lists that leave out a key. Where the key has neither a default nor counts as empty when it is left
 * out, nothing tells such an element from another: no manager could own it, so neither is it applied (422, naming the
 * element) nor anything to an object that holds one, until an update or a patch has given it its key.
 */
import { ApiError } from '../model/api-error.ts'
import { at, causeOf, child, type FieldError, type FieldPath, required, summary } from '../model/field-error.ts'
import { isObject, type Json, own } from '../model/json.ts'
import { containsSchema } from '../schema/contains-schema.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { hasElements, hasMembers, memberSchema } from './shape.ts'

/** `whose` says in the message where the element is. */
export function refuseKeyless(schema: Schema, value: Json, whose: string): void {
  const errors: FieldError[] = []
  find(schema, value, '', errors)
  if (errors.length === 0) return
  const why = `an element of ${whose} leaves out the key that its list is merged by`
  throw new ApiError(422, 'Invalid', `${why}: ${summary(errors)}`, { causes: errors.map(causeOf) })
}

/** Most of an object cannot hold such an element, and is not walked. */
const mayHold = containsSchema((schema) => schema.type === 'list' && neededKeys(schema).length > 0)

function neededKeys({ list, keys = [], items }: ListSchema): readonly string[] {
  if (list !== 'map' || items.type !== 'object') return []
  const { fields } = items
  return keys.filter((name) => Object.hasOwn(fields, name) && mustBeSent(fields[name]!))
}

function mustBeSent({ zero, default: given }: { zero: string; default?: Json }): boolean {
  return zero !== 'write' && given === undefined
}

/** The first one is enough: the rest may be thousands. */
function find(schema: Schema, value: Json, path: FieldPath, errors: FieldError[]): void {
  if (errors.length > 0 || !mayHold(schema)) return
  if (hasMembers(schema) && isObject(value)) {
    for (const name of Object.keys(value))
      if (value[name] !== undefined) find(memberSchema(schema, name), value[name], child(path, name), errors)
  } else if (hasElements(schema) && Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const missing = isObject(item) ? neededKeys(schema).find((name) => own(item, name) === undefined) : undefined
      if (missing !== undefined) errors.push(required(child(at(path, i), missing), 'the list is merged by this key'))
      if (errors.length > 0) return
      find(schema.items, item, at(path, i), errors)
    }
  }
}

/**
 * Finds faulty elements in the sets and keyed lists of a value. `keyless-elements.ts` and `duplicate-elements.ts`
 * define the faults.
 */
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
import { at, child, type FieldError, type FieldPath } from '../model/field-error.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { hasElements, hasMembers, type Membered, memberSchema } from './shape.ts'

/** A kind of fault that list elements can have, such as a missing key. */
export interface ListFault {
  /** Whether values of this schema can have the fault. All other values are skipped. */
  readonly mayHold: (schema: Schema) => boolean
  /** Returns a function that checks the elements of one list. It is called for each element in order. */
  readonly checkOf: (schema: ListSchema) => (item: Json, path: FieldPath) => FieldError | undefined
}

type SlicedFieldError = Generator<void, FieldError | undefined>

/** Searches all lists in a value for one kind of fault. */
export class ListFaultSearch {
  readonly #fault: ListFault

  constructor(fault: ListFault) {
    this.#fault = fault
  }

  /** Returns an error for only the first faulty element, because there may be thousands. Yields periodically. */
  *find(schema: Schema, value: Json, path: FieldPath = ''): SlicedFieldError {
    if (!this.#fault.mayHold(schema) || !isLarge(value)) return this.#findAtOnce(schema, value, path)
    yield
    if (hasMembers(schema) && isObject(value)) return yield* this.#findInMembers(schema, value, path)
    return hasElements(schema) && Array.isArray(value) ? yield* this.#findInElements(schema, value, path) : undefined
  }

  #findAtOnce(schema: Schema, value: Json, path: FieldPath): FieldError | undefined {
    if (!this.#fault.mayHold(schema)) return undefined
    if (hasMembers(schema) && isObject(value)) {
      for (const name of Object.keys(value)) {
        const item = value[name]
        const error =
          item === undefined ? undefined : this.#findAtOnce(memberSchema(schema, name), item, child(path, name))
        if (error !== undefined) return error
      }
    } else if (hasElements(schema) && Array.isArray(value)) {
      const check = this.#fault.checkOf(schema)
      for (const [i, item] of value.entries()) {
        const error = check(item, at(path, i)) ?? this.#findAtOnce(schema.items, item, at(path, i))
        if (error !== undefined) return error
      }
    }
    return undefined
  }

  *#findInMembers(schema: Membered, value: JsonObject, path: FieldPath): SlicedFieldError {
    let members = 0
    for (const name of Object.keys(value)) {
      if (++members % partsPerSlice === 0) yield
      const item = value[name]
      const type = memberSchema(schema, name)
      const error =
        item !== undefined && this.#fault.mayHold(type) ? yield* this.find(type, item, child(path, name)) : undefined
      if (error !== undefined) return error
    }
    return undefined
  }

  *#findInElements(schema: ListSchema, value: readonly Json[], path: FieldPath): SlicedFieldError {
    const looksInto = this.#fault.mayHold(schema.items)
    const check = this.#fault.checkOf(schema)
    for (const [i, item] of value.entries()) {
      if (i % partsPerSlice === 0) yield
      const inner = looksInto ? yield* this.find(schema.items, item, at(path, i)) : undefined
      const error = check(item, at(path, i)) ?? inner
      if (error !== undefined) return error
    }
    return undefined
  }
}

/**
 * Determines how merging treats a schema: as an atomic value, as members by name, or as list elements.
 *
 * Scalars, free-form values, and objects, maps and lists marked as atomic are atomic values: each of them is owned,
 * compared and replaced as a whole. If the schema marks free-form JSON as granular, each member of its objects can have
 * its own owner, and its lists are atomic.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import type { AnySchema, ListSchema, MapSchema, ObjectSchema, Schema } from '../schema/schema.ts'
import { fieldElement } from './path-elements.ts'

export type Membered = ObjectSchema | MapSchema | AnySchema

/** Whether each member of a value can have its own owner. */
export function hasMembers(schema: Schema): schema is Membered {
  if (schema.type === 'any') return schema.granular === true
  return (schema.type === 'object' || schema.type === 'map') && !schema.atomic
}

/** Whether each element of a list can have its own owner. */
export function hasElements(schema: Schema): schema is ListSchema {
  return schema.type === 'list' && schema.list !== 'atomic'
}

/** Schema of unknown members in an object that preserves them. */
const undescribed: AnySchema = { type: 'any', granular: true }

/** Returns the schema of a member, even if the object's schema does not describe the member. */
export function memberSchema(schema: Membered, name: string): Schema {
  return memberOf(schema, name).schema
}

/** A member of an object, with its path element and its schema. */
export interface Member {
  /** Path element of the member, such as `f:spec`. */
  readonly step: string
  readonly schema: Schema
}

/**
 * Caches the members of a schema with their path elements. Without the cache, merging would spend most of its time
 * hashing newly created path elements.
 */
const namedMembers = memoizeByObject(
  (schema: Membered): ReadonlyMap<string, Member> =>
    new Map(
      Object.entries(schema.type === 'object' ? schema.fields : {}).map(([name, field]) => [
        name,
        { step: fieldElement(name), schema: field.schema },
      ]),
    ),
)

/** Returns the member with the given name, even if the schema does not describe it. */
export function memberOf(schema: Membered, name: string): Member {
  const named = schema.type === 'object' ? namedMembers(schema).get(name) : undefined
  return named ?? { step: fieldElement(name), schema: schema.type === 'map' ? schema.values : undescribed }
}

/** Whether the name is a field in the schema, as opposed to a user-defined key. */
export function isSchemaField(schema: Membered, name: string): boolean {
  return schema.type === 'object' && Object.hasOwn(schema.fields, name)
}

/** Returns the schema at a path element, or undefined if no schema describes the element. */
export function stepSchema(schema: Schema, step: string): Schema | undefined {
  if (step.startsWith('f:')) return hasMembers(schema) ? memberSchema(schema, step.slice(2)) : undefined
  return hasElements(schema) ? schema.items : undefined
}

/**
 * Determines how merging treats a schema: as an atomic value, as members by name, or as list elements.
 *
 * Scalars, atomic objects, maps and lists, and free-form values are atomic: they are owned, compared and replaced as a
 * whole. If the schema marks undescribed JSON as granular, its objects have members and its lists are atomic.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import type { AnySchema, ListSchema, MapSchema, ObjectSchema, Schema } from '../schema/schema.ts'
import { fieldElement } from './path-elements.ts'

export type Membered = ObjectSchema | MapSchema | AnySchema

/** Whether members are owned individually. */
export function hasMembers(schema: Schema): schema is Membered {
  if (schema.type === 'any') return schema.granular === true
  return (schema.type === 'object' || schema.type === 'map') && !schema.atomic
}

/** Whether elements are owned individually. */
export function hasElements(schema: Schema): schema is ListSchema {
  return schema.type === 'list' && schema.list !== 'atomic'
}

/** Returns the schema of keys that the schema of an open object does not describe. */
const undescribed: AnySchema = { type: 'any', granular: true }

/** Returns the schema of a member, including undescribed ones. */
export function memberSchema(schema: Membered, name: string): Schema {
  return memberOf(schema, name).schema
}

/** A member, for merging. */
export interface Member {
  /** The path element of the member. */
  readonly step: string
  readonly schema: Schema
}

/** Path elements are cached, because hashing them as keys of sets takes longer than everything else. */
const namedMembers = memoizeByObject(
  (schema: Membered): ReadonlyMap<string, Member> =>
    new Map(
      Object.entries(schema.type === 'object' ? schema.fields : {}).map(([name, field]) => [
        name,
        { step: fieldElement(name), schema: field.schema },
      ]),
    ),
)

/** Returns the member of this name, including undescribed ones. */
export function memberOf(schema: Membered, name: string): Member {
  const named = schema.type === 'object' ? namedMembers(schema).get(name) : undefined
  return named ?? { step: fieldElement(name), schema: schema.type === 'map' ? schema.values : undescribed }
}

/** Whether this is a field named by the schema, not a user-defined key. */
export function isSchemaField(schema: Membered, name: string): boolean {
  return schema.type === 'object' && Object.hasOwn(schema.fields, name)
}

/** Returns the schema at a path element; undefined if the schema has none. */
export function stepSchema(schema: Schema, step: string): Schema | undefined {
  if (step.startsWith('f:')) return hasMembers(schema) ? memberSchema(schema, step.slice(2)) : undefined
  return hasElements(schema) ? schema.items : undefined
}

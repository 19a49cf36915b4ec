/**
 * How merging sees a schema: as one whole, as members under names, or as elements of a list.
 *
 * Scalars, atomic objects, maps and lists, and values of any form are wholes: they are owned, compared and replaced in
 * one piece. Where the schema says that undescribed JSON is granular, its objects have members and its lists are wholes.
 */
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import type { AnySchema, ListSchema, MapSchema, ObjectSchema, Schema } from '../schema/schema.ts'
import { fieldStep } from './steps.ts'

export type Membered = ObjectSchema | MapSchema | AnySchema

/** Whether its members are owned one by one. */
export function hasMembers(schema: Schema): schema is Membered {
  if (schema.type === 'any') return schema.granular === true
  return (schema.type === 'object' || schema.type === 'map') && !schema.atomic
}

/** Whether its elements are owned one by one. */
export function hasElements(schema: Schema): schema is ListSchema {
  return schema.type === 'list' && schema.list !== 'atomic'
}

/** What the keys of an open object hold that its schema does not describe. */
const undescribed: AnySchema = { type: 'any', granular: true }

/** The schema of a member, also of one that is not described. */
export function memberSchema(schema: Membered, name: string): Schema {
  return memberOf(schema, name).schema
}

/** A member as merging sees it. */
export interface Member {
  /** To it from the value that it is a member of. */
  readonly step: string
  readonly schema: Schema
}

/** Steps are made once: as keys of sets they are hashed, which takes longer than all else about them. */
const namedMembers = memoizeByObject(
  (schema: Membered): ReadonlyMap<string, Member> =>
    new Map(
      Object.entries(schema.type === 'object' ? schema.fields : {}).map(([name, field]) => [
        name,
        { step: fieldStep(name), schema: field.schema },
      ]),
    ),
)

/** The member of this name, also one that is not described. */
export function memberOf(schema: Membered, name: string): Member {
  const named = schema.type === 'object' ? namedMembers(schema).get(name) : undefined
  return named ?? { step: fieldStep(name), schema: schema.type === 'map' ? schema.values : undescribed }
}

/** Whether this is a field that the schema names, and not a key that some user chose. */
export function isNamed(schema: Membered, name: string): boolean {
  return schema.type === 'object' && Object.hasOwn(schema.fields, name)
}

/** The schema of what lies behind a step; undefined where the schema has no such place. */
export function stepSchema(schema: Schema, step: string): Schema | undefined {
  if (step.startsWith('f:')) return hasMembers(schema) ? memberSchema(schema, step.slice(2)) : undefined
  return hasElements(schema) ? schema.items : undefined
}

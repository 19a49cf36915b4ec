/**
 * Field sets that were written under an older schema, read under the present one.
 *
 * Where a list, map or object has become atomic, the owner of any part of it owns the whole (spec: apply, rule 8). The
 * other way round nothing is derived: the owner keeps the place itself and owns no element.
 */
import type { JsonObject } from '../model/json.ts'
import type { ObjectSchema, Schema } from '../schema/schema.ts'
import type { InVersion } from './change.ts'
import { type FieldSet, justHere, rebuild } from './field-set.ts'
import { type Manager, withFields } from './managed-fields.ts'
import { hasElements, hasMembers, stepSchema } from './shape.ts'

/** Each manager's fields are read under the schema of the version that it wrote in; those of unknown ones stay. */
export function reconcileManagers(schemaIn: SchemaIn, managers: readonly Manager[]): Manager[] {
  return managers.map((manager) => {
    const schema = schemaIn(manager.apiVersion)
    return schema === undefined ? manager : withFields(manager, reconcile(schema, manager.fields))
  })
}

/** The schema of a version; undefined when there is no such version. */
export type SchemaIn = (apiVersion: string) => ObjectSchema | undefined

interface Versions {
  readonly schema: ObjectSchema
  readonly apiVersion: string
  readonly inVersion?: InVersion | undefined
}

/** The schemas of a kind's versions, from an object in one of them, which is converted once per version. */
export function schemaInVersions({ schema, apiVersion, inVersion }: Versions, object: JsonObject): SchemaIn {
  if (inVersion === undefined) return () => schema
  const known = new Map<string, ObjectSchema | undefined>([[apiVersion, schema]])
  return (other) => {
    if (!known.has(other)) known.set(other, inVersion(object, other)?.schema)
    return known.get(other)
  }
}

function reconcile(schema: Schema, set: FieldSet): FieldSet {
  if (set.children.size === 0) return set
  if (!hasMembers(schema) && !hasElements(schema)) return justHere
  return rebuild(set, set.member, (branch, step) => {
    const next = stepSchema(schema, step)
    return next === undefined ? branch : reconcile(next, branch)
  })
}

/**
 * Adapts field sets that were recorded under an older schema to the current schema.
 *
 * If a list, map or object has become atomic, the owner of any of its parts then owns the whole value (spec: apply,
 * rule 8). If an atomic value has become granular, its owner still owns the field itself but none of its elements.
 */
import type { ObjectSchema, Schema } from '../schema/schema.ts'
import type { OtherVersions } from './change.ts'
import { type FieldSet, isLargeSet, justHere, rebuild, rebuildSliced } from './field-set.ts'
import { type Manager, withFields } from './managed-fields.ts'
import { hasElements, hasMembers, stepSchema } from './shape.ts'

/**
 * Adapts the fields of all managers to the current schemas. Managers of unknown versions stay unchanged. Yields
 * periodically.
 */
export function* reconcileManagers(schemaIn: SchemaIn, managers: readonly Manager[]): Generator<void, Manager[]> {
  const reconciled: Manager[] = []
  for (const manager of managers) {
    const schema = schemaIn(manager.apiVersion)
    if (schema === undefined) reconciled.push(manager)
    else if (isLargeSet(manager.fields))
      reconciled.push(withFields(manager, yield* reconcileSliced(schema, manager.fields)))
    else reconciled.push(withFields(manager, reconcile(schema, manager.fields)))
  }
  return reconciled
}

/** Returns the schema of a version, or undefined if the version does not exist. */
export type SchemaIn = (apiVersion: string) => ObjectSchema | undefined

interface Versions {
  readonly schema: ObjectSchema
  readonly apiVersion: string
  readonly versions?: OtherVersions | undefined
}

/** Returns a function that finds the schemas of a kind's versions. */
export function schemaInVersions({ schema, apiVersion, versions }: Versions): SchemaIn {
  if (versions === undefined) return () => schema
  return (other) => (other === apiVersion ? schema : versions.schemaOf(other))
}

function* reconcileSliced(schema: Schema, set: FieldSet): Generator<void, FieldSet> {
  if (!isLargeSet(set) || !(hasMembers(schema) || hasElements(schema))) return reconcile(schema, set)
  return yield* rebuildSliced(set, {
    member: set.member,
    *change(branch, step) {
      const next = stepSchema(schema, step)
      return next === undefined ? branch : yield* reconcileSliced(next, branch)
    },
  })
}

function reconcile(schema: Schema, set: FieldSet): FieldSet {
  if (set.children.size === 0) return set
  if (!hasMembers(schema) && !hasElements(schema)) return justHere
  return rebuild(set, set.member, (branch, step) => {
    const next = stepSchema(schema, step)
    return next === undefined ? branch : reconcile(next, branch)
  })
}

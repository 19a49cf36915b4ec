/**
 * Field sets that were written under an older schema, read under the present one.
 *
 * Where a list, map or object has become atomic, the owner of any part of it owns the whole (spec: apply, rule 8). The
 * other way round nothing is derived: the owner keeps the place itself and owns no element.
 */
import type { ObjectSchema, Schema } from '../schema/schema.ts'
import { type FieldSet, justHere, rebuild } from './field-set.ts'
import { type Manager, withFields } from './managed-fields.ts'
import { hasElements, hasMembers, stepSchema } from './shape.ts'

export function reconcileManagers(schema: ObjectSchema, managers: readonly Manager[]): Manager[] {
  return managers.map((manager) => withFields(manager, reconcile(schema, manager.fields)))
}

function reconcile(schema: Schema, set: FieldSet): FieldSet {
  if (set.children.size === 0) return set
  if (!hasMembers(schema) && !hasElements(schema)) return justHere
  return rebuild(set, set.member, (branch, step) => {
    const next = stepSchema(schema, step)
    return next === undefined ? branch : reconcile(next, branch)
  })
}

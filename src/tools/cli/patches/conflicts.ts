/**
 * Finds conflicts between a patch and changes that other clients have made since the last apply. `apply
 * --overwrite=false` rejects such conflicts. A field conflicts if its live value equals neither the last applied file
 * (`original`) nor the current file (`modified`).
 */
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import { memberSchema, mergeKeyOf, type States, threeWayPatch, undescribed } from './three-way.ts'

/** Returns the paths of conflicting fields, such as `spec.replicas`. A list without a merge key counts as one field. */
export function conflictingPaths({ original, modified, current }: States, schema: Schema = undescribed): string[] {
  const ownChanges = threeWayPatch({ original, modified, current }, schema)
  const otherChanges = threeWayPatch(
    { original, modified: isObject(current) ? current : {}, current: original },
    schema,
  )
  return inObject({ ownChanges, otherChanges, schema, path: '' })
}

interface Place<T> {
  readonly ownChanges: T
  readonly otherChanges: T
  readonly schema: Schema
  readonly path: string
}

/** Returns the conflicting paths in an object. Ignores directives (`$setElementOrder/...`), which change no field. */
function inObject({ ownChanges, otherChanges, schema, path }: Place<JsonObject>): string[] {
  const shared = Object.keys(ownChanges).filter((name) => !name.startsWith('$') && Object.hasOwn(otherChanges, name))
  return shared.flatMap((name) =>
    inValue({
      ownChanges: own(ownChanges, name) ?? null,
      otherChanges: own(otherChanges, name) ?? null,
      schema: memberSchema(schema, name),
      path: path === '' ? name : `${path}.${name}`,
    }),
  )
}

function inValue({ ownChanges, otherChanges, schema, path }: Place<Json>): string[] {
  if (isObject(ownChanges) && isObject(otherChanges)) return inObject({ ownChanges, otherChanges, schema, path })
  const key = schema.type === 'list' ? mergeKeyOf(schema) : undefined
  if (key === undefined || !Array.isArray(ownChanges) || !Array.isArray(otherChanges) || schema.type !== 'list')
    return [path]
  return ownChanges.filter(isObject).flatMap((element) => {
    const id = own(element, key) ?? null
    const other = otherChanges.filter(isObject).find((candidate) => own(candidate, key) === id)
    if (other === undefined) return []
    const place = `${path}[${key}=${String(id)}]`
    if (Object.hasOwn(element, '$patch') || Object.hasOwn(other, '$patch')) return [place]
    const rest = (object: JsonObject) => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))
    return inObject({ ownChanges: rest(element), otherChanges: rest(other), schema: schema.items, path: place })
  })
}

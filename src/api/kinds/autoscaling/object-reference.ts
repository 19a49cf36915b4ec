/** A CrossVersionObjectReference refers to an object in the same namespace by kind and name. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../model/field-error.ts'
import { checkPathSegment } from '../../model/names.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

const fields = {
  kind: field(1, s.string(), { zeroValue: 'write', doc: 'Kind of the object.' }),
  name: field(2, s.string(), { zeroValue: 'write', doc: 'Name of the object.' }),
  apiVersion: field(3, s.string(), { doc: 'API version of the object.' }),
}

const names = { name: 'CrossVersionObjectReference', doc: 'Reference to an object of any kind in the same namespace.' }

export type ObjectReference = InferFields<typeof fields>

export const objectReference = s.object(fields, { ...names, check: checkReference })

/** An object reference whose fields are not validated, for use in a status. */
export const freeObjectReference = s.object(fields, names)

/** A reference in v1, which is atomic: server-side apply treats it as a single field. */
export const wholeObjectReference = s.object(fields, { ...names, check: checkReference, atomic: true })

function checkReference({ kind = '', name = '' }: ObjectReference, path: FieldPath): FieldError[] {
  return [...checkSegment(kind, child(path, 'kind')), ...checkSegment(name, child(path, 'name'))]
}

export function checkSegment(text: string, path: FieldPath): FieldError[] {
  if (text === '') return [required(path)]
  return checkPathSegment(text).map((fault) => invalid(path, text, fault))
}

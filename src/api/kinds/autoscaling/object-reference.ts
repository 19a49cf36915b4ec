/** A reference to an object of any kind in the same namespace, by kind and name. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../model/field-error.ts'
import { checkPathSegment } from '../../model/names.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

const fields = {
  kind: field(1, s.string(), { zero: 'write', doc: 'Its kind.' }),
  name: field(2, s.string(), { zero: 'write', doc: 'Its name.' }),
  apiVersion: field(3, s.string(), { doc: 'Group and version of its kind.' }),
}

const names = { name: 'CrossVersionObjectReference', doc: 'An object of any kind in the same namespace.' }

export type ObjectReference = InferFields<typeof fields>

export const objectReference = s.object(fields, { ...names, check: checkReference })

/** Not judged. */
export const freeObjectReference = s.object(fields, names)

/** As v1 has it: owned and replaced as a whole. */
export const wholeObjectReference = s.object(fields, { ...names, check: checkReference, atomic: true })

function checkReference({ kind = '', name = '' }: ObjectReference, path: FieldPath): FieldError[] {
  return [...checkSegment(kind, child(path, 'kind')), ...checkSegment(name, child(path, 'name'))]
}

export function checkSegment(text: string, path: FieldPath): FieldError[] {
  if (text === '') return [required(path)]
  return checkPathSegment(text).map((fault) => invalid(path, text, fault))
}

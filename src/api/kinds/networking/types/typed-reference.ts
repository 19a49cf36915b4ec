/** References to an object of any kind by group, kind and name. Ingress and IngressClass contain such references. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkDnsSubdomain, checkPathSegment } from '../../../model/names.ts'

export interface TypedReference {
  readonly apiGroup?: string
  readonly kind?: string
  readonly name?: string
}

export function checkTypedReference({ apiGroup, kind, name }: TypedReference, path: FieldPath): FieldError[] {
  const groupFaults = apiGroup === undefined ? [] : checkDnsSubdomain(apiGroup)
  return [
    ...groupFaults.map((fault) => invalid(child(path, 'apiGroup'), apiGroup, fault)),
    ...checkSegment('kind', kind, path),
    ...checkSegment('name', name, path),
  ]
}

function checkSegment(part: string, value: string | undefined, path: FieldPath): FieldError[] {
  const place = child(path, part)
  if (!value) return [required(place, `${part} is required`)]
  return checkPathSegment(value).map((fault) => invalid(place, value, fault))
}

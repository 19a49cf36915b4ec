/** Validates immutable fields. Shared by several kinds. */

import { sameJson } from '../json/json.ts'
import { type FieldError, forbidden, invalid } from '../model/field-error.ts'

export function immutableField(path: string, next: unknown, previous: unknown): FieldError[] {
  return sameJson(next, previous) ? [] : [invalid(path, next, 'field is immutable')]
}

/**
 * Returns the error for a change to an immutable object. If the field `immutable` is true, neither this field nor the
 * data may change.
 */
export function forbiddenChange(path: string, next: unknown, previous: unknown): FieldError[] {
  if (sameJson(next, previous)) return []
  return [forbidden(path, 'field is immutable when `immutable` is set')]
}

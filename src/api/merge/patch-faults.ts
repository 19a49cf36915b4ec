/**
 * The ways in which a patch is refused, whatever its form.
 *
 *   malformed     400  the body is not a patch of its form: no list, no object, a directive nobody knows
 *   inapplicable  422  a well-formed patch that does not fit the object: no such place, a test that fails
 *   invalidPatch  422  the object that the patch would make is not one of its kind; the cause names `patch`
 *
 * A media type that is not a patch (415) and an object that is not there (404) come before any of these.
 */

import { isObject, type Json, type JsonObject, typeName } from '../json/json.ts'
import { ApiError, badRequest } from '../model/api-error.ts'
import { causeOf, type FieldError, summary } from '../model/field-error.ts'

export function malformed(why: string): ApiError {
  return badRequest(`the patch is malformed: ${why}`)
}

export function inapplicable(why: string): ApiError {
  return new ApiError(422, 'Invalid', `the patch cannot be applied: ${why}`, {})
}

/** It would take more work than any patch should. */
export class ExpensivePatch extends ApiError {
  constructor(why: string) {
    super(422, 'Invalid', `the patch cannot be applied: ${why}`, {})
  }
}

/** 422: the object that the patch would make is not one of its kind. */
export function invalidPatch(why: string): ApiError {
  const error: FieldError = { fault: 'FieldValueInvalid', path: 'patch', text: `Invalid value: ${why}` }
  return new ApiError(422, 'Invalid', `the patch is invalid: ${summary([error])}`, { causes: [causeOf(error)] })
}

/** The body of a merge patch or a strategic merge patch, which is an object. */
export function parsePatchObject(value: Json): JsonObject {
  if (!isObject(value)) throw malformed(`expected an object, got ${typeName(value)}`)
  return value
}

/**
 * What to throw when the object that a patch made cannot be read: a value of a wrong type is the fault of the patch.
 */
export function patchFault(error: unknown): unknown {
  return error instanceof ApiError && error.code === 400 ? invalidPatch(error.message) : error
}

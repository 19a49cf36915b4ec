/**
 * The errors that any type of patch can cause:
 *
 * - malformed (400): the body is not a patch of its type, for example because it is not a list or object, or because it
 *   contains an unknown directive.
 * - inapplicable (422): a well-formed patch does not fit the object, for example because a path is missing or a test
 *   fails.
 * - invalidPatch (422): the patched object would not be valid for its kind. The cause names `patch`.
 *
 * An unsupported media type (415) and a missing object (404) are reported before any of these errors.
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

/** Thrown if a `test` operation of a JSON patch fails. */
export class FailedTest extends ApiError {
  constructor(path: string) {
    super(422, 'Invalid', `the patch cannot be applied: the test operation at ${path} failed`, {})
  }
}

/** Thrown for a patch that would take too much work to apply. */
export class ExpensivePatch extends ApiError {
  constructor(why: string) {
    super(422, 'Invalid', `the patch cannot be applied: ${why}`, {})
  }
}

/** Returns the 422 error for a patched object that would not be valid for its kind. */
export function invalidPatch(why: string): ApiError {
  const error: FieldError = { fault: 'FieldValueInvalid', path: 'patch', text: `Invalid value: ${why}` }
  return new ApiError(422, 'Invalid', `the patch is invalid: ${summary([error])}`, { causes: [causeOf(error)] })
}

/** Returns the body of a merge patch or strategic merge patch, which must be an object. */
export function parsePatchObject(value: Json): JsonObject {
  if (!isObject(value)) throw malformed(`expected an object, got ${typeName(value)}`)
  return value
}

/**
 * Returns the error to throw if a patched object cannot be decoded. If a value has a wrong type, the error states that
 * the patch caused it.
 */
export function patchFault(error: unknown): unknown {
  return error instanceof ApiError && error.code === 400 ? invalidPatch(error.message) : error
}

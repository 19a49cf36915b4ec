import { StatusError } from '../../../client/requests/status-error.ts'

/** Thrown if a stage cannot be read or applied. The message names the invalid part of the stage and the reason. */
export class StageError extends Error {
  override readonly name = 'StageError'
}

/**
 * Whether an error shows that the stage itself is invalid, because its template fails or the server rejects its patch.
 * A stage from the API is also invalid if its author lacks a permission, or if it patches a subresource that does not
 * exist.
 */
export function isStageFault(error: unknown, { actor }: { readonly actor?: string | undefined }): boolean {
  if (error instanceof StageError) return true
  if (!(error instanceof StatusError)) return false
  const { code, status } = error
  const isMissingPath = code === 404 && status.details?.name === undefined
  return invalidCodes.has(code) || (actor !== undefined && (code === 403 || isMissingPath))
}

/** Status codes for patches that are invalid, not allowed on the resource, or of an unsupported type. */
const invalidCodes: ReadonlySet<number> = new Set([400, 405, 415, 422])

/** Error checks for loops that create missing objects in a namespace. */
import { isConflict, StatusError } from '../../client/requests/status-error.ts'

/**
 * Whether a failed create can be ignored. This is the case if the namespace is terminating or deleted, or if another
 * client has already created the object, because that change triggers the loop.
 */
export function isIgnorableCreateError(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false
  const { reason, details } = error.status
  const isEnding = details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') ?? false
  return (
    isConflict(error) || reason === 'AlreadyExists' || reason === 'NotFound' || (reason === 'Forbidden' && isEnding)
  )
}

/** Whether the object has changed since the write was planned. The caller must read the object and decide again. */
export function isOutdated(error: unknown): boolean {
  return error instanceof StatusError && (isConflict(error) || ['AlreadyExists', 'NotFound'].includes(error.reason))
}

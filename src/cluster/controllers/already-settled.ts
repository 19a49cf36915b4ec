/** For loops that create what is missing in a namespace. */
import { isConflict, StatusError } from '../../client/requests/status-error.ts'

/** Whether somebody was faster, whose change comes to the loop too; or the namespace is gone, or has begun to go. */
export function isSettledAlready(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false
  const { reason, details } = error.status
  const isEnding = details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') ?? false
  return (
    isConflict(error) || reason === 'AlreadyExists' || reason === 'NotFound' || (reason === 'Forbidden' && isEnding)
  )
}

/** Whether an object is not as it was when a write was decided on: read again, and decide anew. */
export function isOutdated(error: unknown): boolean {
  return error instanceof StatusError && (isConflict(error) || ['AlreadyExists', 'NotFound'].includes(error.reason))
}

import { StatusError } from '../../../client/requests/status-error.ts'

/** Thrown if a stage cannot be read or applied. The message names the invalid part of the stage and the reason. */
export class StageError extends Error {
  override readonly name = 'StageError'
}

/** Whether an error shows that the stage itself is invalid: its template fails, or the server rejects its patch. */
export function isStageFault(error: unknown): boolean {
  return error instanceof StageError || (error instanceof StatusError && (error.code === 400 || error.code === 422))
}

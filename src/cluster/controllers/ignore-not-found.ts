/** Ignores 404 errors on behalf of loops, because objects may be deleted at any moment. */
import { isNotFound } from '../../client/requests/status-error.ts'

/** Returns the result of a call, or undefined if the object does not exist. */
export async function ignoreNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

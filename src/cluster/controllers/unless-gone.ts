/** For loops, whose objects may go at any moment: an answer, or undefined where there is nothing left to ask about. */
import { isNotFound } from '../../client/requests/status-error.ts'

/** What a call answers; undefined where the object is gone. */
export async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** What is answered for pods, nodes and services themselves: the server has no way to the network that they are in. */
import { ApiError } from '../model/api-error.ts'

/** Without a time to try again: that would not help. */
export function unreachable(what: string): ApiError {
  return new ApiError(503, 'ServiceUnavailable', `${what} cannot be reached: this server has no way to nodes`)
}

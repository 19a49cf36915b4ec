/**
 * Errors for a conversion webhook that is unreachable or returns an unusable response. The request itself is valid, and
 * the object in the requested version is unknown.
 */
import { ApiError } from '../../../api/model/api-error.ts'

/** An object could not be converted to the requested version. */
export class ConversionFailed extends ApiError {
  /** `message` is the complete error message. */
  constructor(message: string) {
    super(500, '', message)
  }
}

/**
 * The server lacked connections or memory to call the webhook. The webhook did not fail, so the client should retry.
 */
export class ConversionNotTried extends ApiError {
  constructor(message: string) {
    super(429, 'TooManyRequests', message, { retryAfterSeconds: 1 })
  }
}

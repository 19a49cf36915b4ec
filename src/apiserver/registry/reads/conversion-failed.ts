/**
 * Defines the errors for a conversion webhook that is unreachable or returns an unusable response. In this case, the
 * request is valid, but the object cannot be represented in the requested version.
 */
import { ApiError } from '../../../api/model/api-error.ts'

/** The error for an object that a webhook failed to convert to the requested version. */
export class ConversionFailed extends ApiError {
  /** Creates the error. `message` is the complete error message. */
  constructor(message: string) {
    super(500, '', message)
  }
}

/**
 * The error for a conversion that was not attempted, because the server had too few free connections or too little
 * memory to call the webhook. The webhook did not fail, so the client should retry.
 */
export class ConversionNotTried extends ApiError {
  constructor(message: string) {
    super(429, 'TooManyRequests', message, { retryAfterSeconds: 1 })
  }
}

/**
 * Errors for a conversion webhook that is unreachable or returns an unusable response. The request itself is valid, but
 * the object in the requested version is unknown.
 */
import { ApiError } from '../../../api/model/api-error.ts'

/** An object could not be converted to the requested version. */
export class ConversionFailed extends ApiError {
  /** Creates the error. `message` is the complete message. */
  constructor(message: string) {
    super(500, '', message)
  }
}

/**
 * The error if the server has too few connections or too little memory to call the webhook. The webhook did not fail,
 * so the client should retry.
 */
export class ConversionNotTried extends ApiError {
  constructor(message: string) {
    super(429, 'TooManyRequests', message, { retryAfterSeconds: 1 })
  }
}

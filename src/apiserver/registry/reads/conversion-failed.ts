/**
 * A webhook that should have made one version of an object from another did not: it could not be asked, or its answer is
 * of no use. Nothing is wrong with what the client sent, and nothing is known of the object in that version.
 */
import { ApiError } from '../../../api/model/api-error.ts'

/** An object could not be converted to the version that was asked for. */
export class ConversionFailed extends ApiError {
  /** `message` is the whole reason. */
  constructor(message: string) {
    super(500, '', message)
  }
}

/** This server had no connection or memory left to ask the webhook. The webhook did not fail: the client must try again. */
export class ConversionNotTried extends ApiError {
  constructor(message: string) {
    super(429, 'TooManyRequests', message, { retryAfterSeconds: 1 })
  }
}

/**
 * Converts every thrown error into a Status response. If the Status cannot be converted to the negotiated format, a
 * fixed fallback response is sent.
 */
import {
  ApiError,
  entityTooLarge,
  failure,
  insufficientStorage,
  internalError,
  serviceUnavailable,
  timeout,
} from '../../../api/model/api-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { StoreError, StoreFull, ValueTooLarge } from '../../../storage/store/store.ts'
import type { Exchange } from '../request/exchange.ts'
import { type Form, jsonForm } from '../response/forms.ts'
import { preferredForm } from '../response/negotiate.ts'
import { sendStatus } from '../response/responses.ts'

export type AnswerError = (exchange: Exchange, error: unknown) => Promise<void>

/**
 * Returns the function that sends errors. `onFault` is called for errors that the server caused: unexpected errors and
 * store errors.
 */
export function answerErrors(vendor: Vendor, onFault: (error: unknown, exchange: Exchange) => void): AnswerError {
  return async (exchange, error) => {
    const knownError = asApiError(error)
    if (knownError === undefined || knownError.code === 503 || isUnknown(error)) onFault(error, exchange)
    const reportedError = knownError ?? internalError('unexpected error; see the server log')
    try {
      await answer(exchange, reportedError, vendor)
    } catch (fault) {
      onFault(fault, exchange)
      answerPlainly(exchange, reportedError.code)
    }
  }
}

function isUnknown(error: unknown): error is StoreError {
  return error instanceof StoreError && error.ambiguous
}

function asApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  if (error instanceof ValueTooLarge) return entityTooLarge(`Request entity too large: ${error.message}`)
  if (isUnknown(error)) return unknownOutcome(error)
  if (error instanceof StoreFull)
    return insufficientStorage('the store is full: free space or delete objects, then try again', { cause: error })
  if (!(error instanceof StoreError)) return undefined
  return serviceUnavailable('the store is not available; try again', 1, { cause: error })
}

/**
 * Returns the error for a write whose outcome is unknown. The response has no Retry-After header, because such a header
 * would make clients repeat a write that may have succeeded.
 */
function unknownOutcome(cause: StoreError): ApiError {
  const message =
    'the store did not confirm the write: it may or may not have been applied. Check the object before you retry'
  return timeout(message, {}, { cause })
}

async function answer(exchange: Exchange, error: ApiError, vendor: Vendor): Promise<void> {
  // Headers have already been sent, so truncate the response instead of sending an error.
  if (exchange.answered) {
    if (!exchange.complete) exchange.transport.cut()
    return
  }
  exchange.form = errorForm(exchange, vendor)
  const retry = error.details?.retryAfterSeconds
  if (retry !== undefined) exchange.setHeader('retry-after', String(retry))
  await sendStatus(exchange, error.code, failure(error))
}

/**
 * Sends the fallback response, which needs no format conversion, no compression and no data from the request. If
 * sending also fails, closes the connection.
 */
function answerPlainly(exchange: Exchange, code: number): void {
  const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":${code}}`
  try {
    if (exchange.answered) exchange.transport.cut()
    else exchange.send(code, jsonForm.mediaType, Buffer.from(status))
  } catch {
    exchange.transport.cut()
  }
}

/**
 * Returns the format for an error response: the negotiated format, or the client's preferred one if none has been
 * negotiated.
 */
function errorForm({ form, agreed, headers, info }: Exchange, vendor: Vendor): Form {
  if (agreed || headers === undefined || info === undefined) return form
  return preferredForm({ headers, query: info.query, watch: false, vendor })
}

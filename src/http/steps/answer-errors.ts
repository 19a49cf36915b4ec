/** The one translator of errors: whatever is thrown further down becomes a Status. */
import {
  ApiError,
  entityTooLarge,
  failure,
  insufficientStorage,
  internalError,
  serviceUnavailable,
  timeout,
} from '../../model/api-error.ts'
import type { Vendor } from '../../model/vendor.ts'
import { StoreError, StoreFull, ValueTooLarge } from '../../store/store.ts'
import type { Exchange } from '../exchange.ts'
import type { Form } from '../forms.ts'
import { preferredForm } from '../negotiate.ts'
import { sendStatus } from '../responses.ts'

export type AnswerError = (exchange: Exchange, error: unknown) => Promise<void>

/** `onFault` hears of what is our fault: everything that is answered with a 5xx for a reason unknown to the client. */
export function answerErrors(vendor: Vendor, onFault: (error: unknown, exchange: Exchange) => void): AnswerError {
  return async (exchange, error) => {
    const known = asApiError(error)
    if (known === undefined || known.code === 503 || isUnknown(error)) onFault(error, exchange)
    await answer(exchange, known ?? internalError('an unexpected condition; the server log tells more'), vendor)
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

/** Without a time to try again: clients take one as leave to repeat by themselves what may have happened. */
function unknownOutcome(cause: StoreError): ApiError {
  const message = 'the store did not confirm the write: it may or may not have happened. Look before you write again'
  return timeout(message, {}, { cause })
}

async function answer(exchange: Exchange, error: ApiError, vendor: Vendor): Promise<void> {
  // Half an answer cannot become another one.
  if (exchange.answered) {
    if (!exchange.complete) exchange.transport.cut()
    return
  }
  exchange.form = errorForm(exchange, vendor)
  const retry = error.details?.retryAfterSeconds
  if (retry !== undefined) exchange.setHeader('retry-after', String(retry))
  await sendStatus(exchange, error.code, failure(error))
}

/** The form that was agreed on; before that, the one that the client would get. */
function errorForm({ form, agreed, headers, info }: Exchange, vendor: Vendor): Form {
  if (agreed || headers === undefined || info === undefined) return form
  return preferredForm({ headers, query: info.query, watch: false, vendor })
}

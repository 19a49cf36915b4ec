/** The one translator of errors: whatever is thrown further down becomes a Status. */
import {
  ApiError,
  entityTooLarge,
  failure,
  insufficientStorage,
  internalError,
  serviceUnavailable,
} from '../../model/api-error.ts'
import { StoreError, StoreFull, ValueTooLarge } from '../../store/store.ts'
import type { Exchange } from '../exchange.ts'
import type { Step } from '../pipeline.ts'
import { sendStatus } from '../responses.ts'

/** `onFault` hears of what is our fault: everything that is answered with a 5xx for a reason unknown to the client. */
export function answerErrors(onFault: (error: unknown, exchange: Exchange) => void): Step {
  return async (exchange, next) => {
    try {
      await next()
    } catch (error) {
      const known = asApiError(error)
      if (known === undefined || known.code === 503) onFault(error, exchange)
      await answer(exchange, known ?? internalError('an unexpected condition; the server log tells more'))
    }
  }
}

function asApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  if (error instanceof ValueTooLarge) return entityTooLarge(`Request entity too large: ${error.message}`)
  if (error instanceof StoreFull)
    return insufficientStorage('the store is full: free space or delete objects, then try again', { cause: error })
  if (!(error instanceof StoreError)) return undefined
  const told = error.ambiguous
    ? 'the store did not confirm the write: it may or may not have happened'
    : 'the store is not available'
  return serviceUnavailable(`${told}; try again`, 1, { cause: error })
}

async function answer(exchange: Exchange, error: ApiError): Promise<void> {
  // Half an answer cannot become another one: end it, so that the client sees it is cut short.
  if (exchange.answered) {
    exchange.transport.end()
    return
  }
  const retry = error.details?.retryAfterSeconds
  if (retry !== undefined) exchange.setHeader('retry-after', String(retry))
  await sendStatus(exchange, error.code, failure(error))
}

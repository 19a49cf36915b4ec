/**
 * A transport that retries requests when the server asks for a retry. The transport retries after responses with
 * `Retry-After` and status 429 or 503, which mean that the server has not executed the request. It also retries reads
 * that failed with another 5xx status. The client's timeout applies to all attempts together.
 */
import { pause } from '../../base/concurrency/abort.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

const maxRepeats = 10
/** Maximum delay in seconds. If the server requests a longer delay, the response is treated as an error. */
const maxPauseSeconds = 60

/** Wraps a transport so that requests are retried when the server asks for a retry. */
export function withRetries(send: Transport): Transport {
  return async (request) => {
    for (let repeats = 0; ; repeats++) {
      const response = await send(request)
      const seconds = repeats < maxRepeats ? pauseAskedFor(request, response) : undefined
      if (seconds === undefined) return response
      // Read the body to its end to free the connection.
      for await (const _ of response.body);
      await pause(seconds * 1000, request.signal)
      request.signal.throwIfAborted()
    }
  }
}

/** Returns the number of seconds until the retry, or undefined if the request must not be retried. */
function pauseAskedFor({ method }: TransportRequest, { status, headers }: TransportResponse): number | undefined {
  const isSafe = status === 429 || status === 503 || (status >= 500 && ['GET', 'HEAD'].includes(method))
  const retryAfter = headers['retry-after']?.trim() ?? ''
  if (!isSafe || !/^\d{1,9}$/.test(retryAfter) || Number(retryAfter) > maxPauseSeconds) return undefined
  return Number(retryAfter)
}

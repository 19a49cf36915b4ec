/**
 * A transport that repeats what the server asks to repeat: answers with `Retry-After` that say that nothing was done,
 * which 429 and 503 do, and of reads those with any other 5xx. The client's own limit of time holds for all of it.
 */
import { pause } from '../../base/concurrency/abort.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

const maxRepeats = 10
/** A server that asks for more than this is not waited for. */
const maxPauseSeconds = 60

/** Sends requests as this transport does, and again while the server asks for that. */
export function withRetries(send: Transport): Transport {
  return async (request) => {
    for (let repeats = 0; ; repeats++) {
      const response = await send(request)
      const seconds = repeats < maxRepeats ? pauseAskedFor(request, response) : undefined
      if (seconds === undefined) return response
      // Read to its end, so that the connection is free.
      for await (const _ of response.body);
      await pause(seconds * 1000, request.signal)
      request.signal.throwIfAborted()
    }
  }
}

/** After how many seconds to send the request again; undefined: not at all. */
function pauseAskedFor({ method }: TransportRequest, { status, headers }: TransportResponse): number | undefined {
  const isSafe = status === 429 || status === 503 || (status >= 500 && ['GET', 'HEAD'].includes(method))
  const asked = headers['retry-after']?.trim() ?? ''
  if (!isSafe || !/^\d{1,9}$/.test(asked) || Number(asked) > maxPauseSeconds) return undefined
  return Number(asked)
}

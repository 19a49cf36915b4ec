/**
 * Client transport over `fetch`, for browsers. The browser manages connections and verifies the server. The server must
 * allow pages of other origins (`--cors-allowed-origins`).
 */
import { type Transport, TransportError } from './transport.ts'

export interface FetchTransportOptions {
  /** URL of the server, such as https://127.0.0.1:6443. Its path is a prefix of all request paths. */
  readonly server: string
  /** Bearer token, or a function that returns the token before every request. */
  readonly token?: string | (() => string | Promise<string>)
  /** Additional headers for every request. */
  readonly headers?: { readonly [name: string]: string }
}

/** Sends requests with the global `fetch`. */
export function fetchTransport({ server, token, headers = {} }: FetchTransportOptions): Transport {
  const base = server.replace(/\/$/, '')
  return async (request) => {
    const bearer = typeof token === 'function' ? await token() : token
    const response = await answered(
      fetch(base + request.path, {
        method: request.method,
        headers: {
          ...allowedHeaders(request.headers),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...headers,
        },
        ...(request.body === undefined ? {} : { body: request.body as Uint8Array<ArrayBuffer> }),
        signal: request.signal,
        cache: 'no-store',
      }),
      request.signal,
    )
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: responseBody(response, request.signal),
    }
  }
}

/**
 * Removes the user agent from the headers. Browsers set this header, and a different value would cause CORS preflight
 * requests.
 */
function allowedHeaders({ 'user-agent': _, ...headers }: { readonly [name: string]: string }) {
  return headers
}

async function answered(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  try {
    return await response
  } catch (error) {
    signal.throwIfAborted()
    throw new TransportError('cannot reach the server, or the server does not allow this origin', { cause: error })
  }
}

/** Yields the body. If the caller stops iterating, the response is cancelled, so that the server stops sending. */
async function* responseBody({ body }: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    for (let part = await read(reader, signal); !part.done; part = await read(reader, signal)) yield part.value
  } finally {
    // Ignore the error, which occurs if the response is already complete or has failed.
    await reader.cancel().catch(() => {})
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal) {
  try {
    return await reader.read()
  } catch (error) {
    signal.throwIfAborted()
    throw new TransportError('the connection closed before the response was complete', { cause: error })
  }
}

/**
 * The client's transport over `fetch`, for browsers: the browser keeps the connections and verifies the server. A page
 * of another origin is let in only where the server allows it (`--cors-allowed-origins`).
 */
import { type Transport, TransportError } from './transport.ts'

export interface FetchTransportOptions {
  /** Such as https://127.0.0.1:6443; a path in it comes before all others. */
  readonly server: string
  /** A bearer token, or a function that is asked for it before every request. */
  readonly token?: string | (() => string | Promise<string>)
  /** Further headers of every request. */
  readonly headers?: { readonly [name: string]: string }
}

/** Sends requests with the `fetch` of this place. */
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
      body: bodyOf(response, request.signal),
    }
  }
}

/** Browsers name themselves, and would ask the server for leave to send another name. */
function allowedHeaders({ 'user-agent': _, ...headers }: { readonly [name: string]: string }) {
  return headers
}

async function answered(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  try {
    return await response
  } catch (error) {
    signal.throwIfAborted()
    throw new TransportError('the server is not reached, or does not allow this origin', { cause: error })
  }
}

/** Leaving the iteration cancels the answer, which the server notices. */
async function* bodyOf({ body }: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    for (let part = await read(reader, signal); !part.done; part = await read(reader, signal)) yield part.value
  } finally {
    // Of one that is complete, or failed, there is nothing to cancel.
    await reader.cancel().catch(() => {})
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal) {
  try {
    return await reader.read()
  } catch (error) {
    signal.throwIfAborted()
    throw new TransportError('the connection broke in the middle of an answer', { cause: error })
  }
}

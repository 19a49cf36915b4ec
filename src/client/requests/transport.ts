/**
 * The client's way to a server: one function from a request to its answer. Over the network (`http-transport.ts`), or
 * straight into the pipeline of a server in the same process, which the server hands out.
 *
 * Promises: the answer's head comes as soon as the server has sent it; its body is read at the reader's pace, and
 * leaving it early (or aborting the signal) ends the request. A body that was cut off throws, it never just ends.
 */
export interface TransportRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array | undefined
  readonly signal: AbortSignal
}

/** An answer. */
export interface TransportResponse {
  readonly status: number
  /** Names in lower case; a header that came more than once is joined by commas. */
  readonly headers: { readonly [name: string]: string }
  /** Must be iterated, to its end or not: that is what frees the connection. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Sends a request and returns the answer, whose body is still to be read. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>

/** No answer, or only a part of one: what was asked for may or may not have happened. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  /** What was asked for: `GET /api/v1/pods`; empty where it was no request that failed. */
  readonly request: string

  constructor(message: string, { request = '', ...options }: ErrorOptions & { readonly request?: string } = {}) {
    super(message, options)
    this.request = request
  }

  override toString(): string {
    return withRequest(this)
  }
}

/** A request in words, for errors: without its query, which may say more than a log should. */
export function requestLine({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.split('?', 1)[0]}`
}

/** The error that a request ended with, which says what was asked for: several requests may share a connection's error. */
export function ofRequest(
  error: unknown,
  request: Parameters<typeof requestLine>[0] & { signal?: AbortSignal | undefined },
): unknown {
  const isNamed = !(error instanceof TransportError) || error.request !== '' || error === request.signal?.reason
  return isNamed ? error : new TransportError(error.message, { cause: error.cause, request: requestLine(request) })
}

/** An error as a text that says which request failed. */
export function withRequest({ name, message, request }: Error & { readonly request: string }): string {
  return [name, request, message].filter((part) => part !== '').join(': ')
}

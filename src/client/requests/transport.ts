/**
 * The transport of a client: a function from a request to its response. A transport uses the network
 * (`http-transport.ts`) or passes requests directly to the pipeline of a server in the same process.
 *
 * A transport must meet these requirements. It returns the head of the response as soon as the server sends it. It
 * transfers the body only as fast as the body is read. It ends the request if the reader of the body stops early or the
 * signal aborts. Reading a truncated body throws an error instead of ending normally.
 */
export interface TransportRequest {
  readonly method: string
  /** Path and query of the request. */
  readonly path: string
  /** Headers with lower-case names. */
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array | undefined
  readonly signal: AbortSignal
}

/** The response to a client's request. */
export interface TransportResponse {
  readonly status: number
  /** Headers with lower-case names. Repeated headers are joined by commas. */
  readonly headers: { readonly [name: string]: string }
  /** The response body. The caller must always start reading the body. Otherwise, the connection stays in use. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Sends a request and returns the response. The body of the response is not read yet. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>

/**
 * The error for a request whose response is missing or incomplete. The server may or may not have executed the request.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  /** The request that failed, such as `GET /api/v1/pods`. Empty if the error does not belong to a request. */
  readonly request: string

  constructor(message: string, { request = '', ...options }: ErrorOptions & { readonly request?: string } = {}) {
    super(message, options)
    this.request = request
  }

  override toString(): string {
    return withRequest(this)
  }
}

/** Returns the text that identifies a request in errors. It omits the query, which may be confidential. */
export function requestLine({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.split('?', 1)[0]}`
}

/**
 * Adds the request to an error that does not name one. Returns a new error, because all requests of a connection may
 * share the original.
 */
export function ofRequest(
  error: unknown,
  request: Parameters<typeof requestLine>[0] & { signal?: AbortSignal | undefined },
): unknown {
  const isNamed = !(error instanceof TransportError) || error.request !== '' || error === request.signal?.reason
  return isNamed ? error : new TransportError(error.message, { cause: error.cause, request: requestLine(request) })
}

/** Formats an error with its request. */
export function withRequest({ name, message, request }: Error & { readonly request: string }): string {
  return [name, request, message].filter((part) => part !== '').join(': ')
}

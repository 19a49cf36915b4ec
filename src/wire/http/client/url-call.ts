/** Sends requests to URLs whose responses are small and returned as a whole. */
import type { AnswerBuffer, HeadFault } from './answer-buffer.ts'
import { listHeaders, requestHead } from './request-head.ts'
import type { UrlConnections } from './url-connections.ts'
import { runCall } from './whole-call.ts'

/** A request to a URL. */
export interface UrlCall {
  readonly url: URL
  readonly connections: UrlConnections
  /**
   * The body of a POST request. Its media type is JSON unless the headers specify another type. Without a body, a GET
   * request is sent.
   */
  readonly body?: string | undefined
  readonly headers?: { readonly [name: string]: string }
  /** Timeout in milliseconds, which applies separately to the wait for a free connection and to the response. */
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly faultOf: HeadFault
}

/**
 * Sends a request to a URL. Throws CallError unless the response is acceptable. The fault of the error is `limit` if no
 * connection becomes free in time.
 */
export function callUrl({
  url,
  connections,
  body,
  headers = {},
  timeoutMs,
  ...limits
}: UrlCall): Promise<AnswerBuffer> {
  const { host, hostname, pathname, search } = url
  const method = body === undefined ? 'GET' : 'POST'
  const framing = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body ?? '')) }
  const sent = {
    host,
    ...authorizationIn(url),
    ...(body === undefined ? {} : framing),
    ...headers,
    'accept-encoding': 'identity',
  }
  return runCall({
    pool: connections.poolOf(url),
    serverName: hostname,
    method,
    head: requestHead(method, `${pathname}${search}`, listHeaders(sent)),
    body,
    timeoutMs,
    // Start the timeout for the response only now, so that it does not include the wait for a connection.
    waitMs: timeoutMs,
    signal: undefined,
    ...limits,
  })
}

/**
 * Returns an Authorization header with the user name and password of a URL. Returns no header if the URL contains
 * neither.
 */
function authorizationIn({ username, password }: URL): { authorization?: string } {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

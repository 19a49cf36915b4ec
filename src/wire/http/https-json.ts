/**
 * Requests JSON from other servers over HTTPS. The size and duration of responses are limited, redirects are not
 * followed, and error messages contain no request or response data.
 */
import type { AnswerHead } from './client/answer-parser.ts'
import { CallError } from './client/call-error.ts'
import { callUrl } from './client/url-call.ts'
import type { UrlConnections } from './client/url-connections.ts'

/** A request to another server. */
export interface JsonQuestion {
  readonly url: string
  readonly connections: UrlConnections
  /**
   * The body of a POST request. Its media type is JSON unless the headers specify another type. Without a body, the
   * request is a GET.
   */
  readonly body?: string
  readonly headers?: { readonly [name: string]: string }
  /**
   * Timeout in milliseconds, which applies separately to the wait for a connection and to the response. Defaults to ten
   * seconds.
   */
  readonly timeoutMs?: number
}

/** Thrown if a response is unacceptable and a retry would not help. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
}

/**
 * Thrown if no connection was free, or if a limit of this server prevented a new connection. The other server is not at
 * fault.
 */
export class NoFreeConnection extends Error {
  override readonly name = 'NoFreeConnection'
}

const defaultTimeoutMs = 10_000
const maxAnswer = 1024 * 1024

/** Sends a request over HTTPS and returns the response body, parsed as JSON. */
export async function askForJson(question: JsonQuestion): Promise<unknown> {
  const body = await ask(question)
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // Do not include the parser's error, whose message quotes the response.
    throw new BadAnswer('the service did not return JSON')
  }
}

/** Sends a request and ignores the body of the response. Throws an error unless the response reports success. */
export async function tellJson(question: JsonQuestion): Promise<void> {
  await ask(question)
}

/** Sends a request and returns the body of a successful response. */
async function ask({ url, headers, timeoutMs = defaultTimeoutMs, ...question }: JsonQuestion): Promise<Buffer> {
  try {
    const { body } = await callUrl({
      ...question,
      url: secureUrl(url),
      headers: { ...headers, accept: 'application/json' },
      timeoutMs,
      maxBytes: maxAnswer,
      faultOf: unsuccessful,
    })
    return body
  } catch (error) {
    throw error instanceof CallError ? failureOf(error, timeoutMs) : error
  }
}

function secureUrl(text: string): URL {
  const url = new URL(text)
  if (url.protocol !== 'https:') throw new BadAnswer(`the service must use https, not ${url.protocol}`)
  return url
}

function unsuccessful({ status }: AnswerHead): string | undefined {
  return status >= 200 && status < 300 ? undefined : `the service responded with status ${status}`
}

function failureOf(error: CallError, timeoutMs: number): unknown {
  const { fault, message, cause } = error
  if (fault === 'timeout') return new BadAnswer(`the service took longer than ${timeoutMs} ms`)
  if (fault === 'answer') return new BadAnswer(message)
  if (fault !== 'limit') return cause ?? error
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return new NoFreeConnection(
    code === undefined ? `no free connection within ${timeoutMs} ms` : `no connection can be opened (${code})`,
  )
}

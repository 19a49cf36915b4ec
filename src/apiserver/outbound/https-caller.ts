/**
 * Sends HTTPS requests to other servers, such as webhooks. Connections are pooled by destination. Other servers can
 * consume only bounded resources: responses are limited in size and total time and are not decompressed, and redirects
 * are not followed. Error messages never contain request or response data.
 *
 * The client is `wire/http/client` rather than Node's `https`, whose objects would account for two thirds of the cost
 * of a call (docs/decisions/0023).
 */

import { AnswerMemory } from '../../wire/http/client/answer-memory.ts'
import { CallError } from '../../wire/http/client/call-error.ts'
import { listHeaders, requestHead } from '../../wire/http/client/request-head.ts'
import { runCall } from '../../wire/http/client/whole-call.ts'
import { Connections, type Destination } from './connections.ts'
import { headersOf } from './credentials.ts'

interface HttpsCall {
  readonly destination: Destination
  /** The request path, including the query. */
  readonly path: string
  readonly timeoutMs: number
  /** A signal that aborts when the response is no longer needed. */
  readonly signal?: AbortSignal | undefined
  /** Additional request headers. */
  readonly headers?: { readonly [name: string]: string | readonly string[] } | undefined
}

export interface HttpsPost extends HttpsCall {
  /** The request body as JSON text. */
  readonly body: string
}

type AnyCall = HttpsCall & Partial<HttpsPost>

/** A complete, successful response. */
export interface HttpsAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** Maximum size of a response in bytes. The limit leaves room for an object of 3 MiB, which takes 4 MiB in base64. */
const maxAnswerBytes = 5 * 1024 * 1024
/** Maximum number of connections per destination. */
const maxConnections = 64

/** An HTTPS client with pooled connections and limited responses. */
export class HttpsCaller {
  readonly #userAgent: string
  readonly #connections = new Connections({ maxPerDestination: maxConnections })
  readonly #memory: AnswerMemory

  constructor(userAgent: string, memory = new AnswerMemory()) {
    this.#userAgent = userAgent
    this.#memory = memory
  }

  /** Sends a POST request. Throws CallError unless a response with a success status arrives in time. */
  post(call: HttpsPost): Promise<HttpsAnswer> {
    return this.#call(call)
  }

  /** Sends a GET request. Throws CallError unless a response with a success status arrives in time. */
  get(call: HttpsCall): Promise<HttpsAnswer> {
    return this.#call(call)
  }

  async #call(call: AnyCall): Promise<HttpsAnswer> {
    const began = performance.now()
    try {
      return await this.#send(call, call.timeoutMs)
    } catch (error) {
      const remainingMs = call.timeoutMs - (performance.now() - began)
      if (!(error instanceof CallError) || remainingMs <= 0 || !this.#connections.mend(call.destination, error))
        throw error
      return await this.#send(call, remainingMs)
    }
  }

  close(): void {
    this.#connections.close()
  }

  async #send(call: AnyCall, timeoutMs: number): Promise<HttpsAnswer> {
    const { destination, signal, body } = call
    signal?.throwIfAborted()
    const pool = this.#connections.poolOf(destination)
    const {
      status,
      headers,
      body: answer,
    } = await runCall({
      pool,
      serverName: destination.serverName,
      method: body === undefined ? 'GET' : 'POST',
      head: headOf(call, this.#userAgent),
      body,
      timeoutMs,
      signal,
      maxBytes: maxAnswerBytes,
      room: this.#memory.roomFor(pool),
    })
    return { status, contentType: headers.get('content-type') ?? '', body: answer }
  }
}

function headOf({ destination, path, body, headers = {} }: AnyCall, userAgent: string): string {
  const sent = {
    host: destination.hostHeader,
    'user-agent': userAgent,
    accept: 'application/json, */*',
    'accept-encoding': 'identity',
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headersOf(destination.credentials),
    ...headers,
  }
  return requestHead(body === undefined ? 'GET' : 'POST', path, listHeaders(sent))
}

/**
 * Calls to other servers over HTTPS: webhooks, and whatever else a stored object names by an address. Connections are
 * reused per destination. Nothing that the other side does costs more than its share: an answer is bounded in size and in
 * time (a byte a second does not prolong it), redirects are not followed, nothing is decompressed, and what was sent or
 * answered is never part of an error.
 *
 * Requests are written to the connection and answers read from it here: of a call through Node's `https` two thirds would be
 * its objects (docs/decisions/0023).
 */
import { fitsLine } from '../../wire/http/header-line.ts'
import { AnswerMemory } from './answer-memory.ts'
import { CallError } from './call-error.ts'
import { Connections, type Destination } from './connections.ts'
import { headersOf } from './credentials.ts'
import { runCall } from './one-call.ts'

interface HttpsCall {
  readonly destination: Destination
  /** With the query. */
  readonly path: string
  readonly timeoutMs: number
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
  /** Sent in addition to those of every call. */
  readonly headers?: { readonly [name: string]: string | readonly string[] } | undefined
}

export interface HttpsPost extends HttpsCall {
  /** JSON. */
  readonly body: string
}

type AnyCall = HttpsCall & Partial<HttpsPost>

/** An answer with a status of success. */
export interface HttpsAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** An object may have 3 MiB; base64 makes 4 of them. */
const maxAnswerBytes = 5 * 1024 * 1024
/** To each destination. */
const maxConnections = 64

/** Calls other servers over HTTPS, with connections that are used again and answers that are bounded. */
export class HttpsCaller {
  readonly #userAgent: string
  readonly #connections = new Connections(maxConnections)
  readonly #memory: AnswerMemory

  constructor(userAgent: string, memory = new AnswerMemory()) {
    this.#userAgent = userAgent
    this.#memory = memory
  }

  /** Sends the body with POST. Throws CallError where there is no answer of success in time. */
  post(call: HttpsPost): Promise<HttpsAnswer> {
    return this.#call(call)
  }

  /** Throws CallError where there is no answer of success in time. */
  get(call: HttpsCall): Promise<HttpsAnswer> {
    return this.#call(call)
  }

  async #call(call: AnyCall): Promise<HttpsAnswer> {
    const began = performance.now()
    try {
      return await this.#send(call, call.timeoutMs)
    } catch (error) {
      const left = call.timeoutMs - (performance.now() - began)
      if (!(error instanceof CallError) || left <= 0 || !this.#connections.mend(call.destination, error)) throw error
      return await this.#send(call, left)
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
      head: headOf(call, this.#userAgent),
      ...{ body, timeoutMs, signal },
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
  const lines = [`${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`]
  for (const [name, value] of Object.entries(sent))
    for (const each of typeof value === 'string' ? [value] : value) lines.push(`${name}: ${each}`)
  if (/\s/.test(path) || !lines.every(fitsLine))
    throw new CallError('connection', 'the path or a header holds characters that cannot be sent')
  return `${lines.join('\r\n')}\r\n\r\n`
}

/**
 * Calls to other servers over HTTPS: webhooks, and whatever else a stored object names by an address. Connections are
 * reused per destination. Nothing that the other side does costs more than its share: an answer is bounded in size and in
 * time (a byte a second does not prolong it), redirects are not followed, nothing is decompressed, and what was sent or
 * answered is never part of an error.
 *
 * Node's own `https` is used: docs/decisions/0023 says why.
 */
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP } from 'node:net'
import { CallError, callErrorOf } from './call-error.ts'
import { Connections, type Destination } from './connections.ts'
import { headersOf } from './credentials.ts'

interface HttpsCall {
  readonly destination: Destination
  /** With the query. */
  readonly path: string
  readonly timeoutMs: number
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
}

export interface HttpsPost extends HttpsCall {
  /** JSON. */
  readonly body: string
}

export interface HttpsGet extends HttpsCall {
  /** Sent in addition to those of every call. */
  readonly headers: { readonly [name: string]: string | readonly string[] }
}

type AnyCall = HttpsCall & Partial<HttpsPost & HttpsGet>

/** An answer with a status of success. */
export interface HttpsAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** An object may have 3 MiB; base64 makes 4 of them. */
const maxAnswerBytes = 5 * 1024 * 1024
/** Of all answers that are being read at the same time. */
const maxBufferedBytes = 64 * 1024 * 1024
/** To each destination. */
const maxConnections = 64

/** Calls other servers over HTTPS, with connections that are used again and answers that are bounded. */
export class HttpsCaller {
  readonly #userAgent: string
  readonly #connections = new Connections(maxConnections)
  #buffered = 0

  constructor(userAgent: string) {
    this.#userAgent = userAgent
  }

  /** Sends the body with POST. Throws CallError where there is no answer of success in time. */
  post(call: HttpsPost): Promise<HttpsAnswer> {
    return this.#call(call)
  }

  /** Throws CallError where there is no answer of success in time. */
  get(call: HttpsGet): Promise<HttpsAnswer> {
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

  #send({ destination, path, body, headers, signal }: AnyCall, timeoutMs: number): Promise<HttpsAnswer> {
    signal?.throwIfAborted()
    const { host, port, serverName, hostHeader, credentials } = destination
    return new Promise((resolve, reject) => {
      const outgoing = request({
        ...{
          host,
          port,
          path,
          method: body === undefined ? 'GET' : 'POST',
          agent: this.#connections.agentOf(destination),
        },
        // An address is not a name that could be asked for; certificates are compared with `host` then.
        servername: isIP(serverName) === 0 ? serverName : '',
        headers: {
          host: hostHeader,
          'user-agent': this.#userAgent,
          accept: 'application/json, */*',
          'accept-encoding': 'identity',
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
          ...headersOf(credentials),
          ...headers,
        },
      })
      let answered = false
      const settle = (end: () => void) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        end()
      }
      const fail = (error: CallError) => {
        settle(() => reject(error))
        outgoing.destroy()
      }
      const onAbort = () => fail(new CallError('aborted', 'the request was abandoned'))
      const timer = setTimeout(
        () => fail(new CallError('timeout', `no complete answer within ${Math.ceil(timeoutMs)} ms`)),
        timeoutMs,
      )
      signal?.addEventListener('abort', onAbort)
      outgoing.on('error', (error) => {
        const onStaleConnection = outgoing.reusedSocket && !answered
        fail(callErrorOf(error, { serverName, onStaleConnection }))
      })
      outgoing.on('response', (response) => {
        answered = true
        this.#read(response).then((answer) => settle(() => resolve(answer)), fail)
      })
      outgoing.end(body)
    })
  }

  /** With listeners: an iterator over the stream would cost as much as the rest of a call. */
  #read(response: IncomingMessage): Promise<HttpsAnswer> {
    const { statusCode: status = 0, headers } = response
    const fault = headFault(status, headers['content-encoding'])
    if (fault !== undefined) return Promise.reject(new CallError('answer', fault))
    const chunks: Buffer[] = []
    let size = 0
    return new Promise<HttpsAnswer>((resolve, reject) => {
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        this.#buffered += chunk.length
        chunks.push(chunk)
        if (size > maxAnswerBytes) reject(new CallError('answer', `the answer has more than ${maxAnswerBytes} bytes`))
        else if (this.#buffered > maxBufferedBytes)
          reject(new CallError('answer', 'too many large answers at the same time'))
      })
      response.on('end', () =>
        resolve({ status, contentType: headers['content-type'] ?? '', body: Buffer.concat(chunks) }),
      )
      response.on('close', () => {
        this.#buffered -= size
        reject(new CallError('connection', 'the connection was cut during the answer'))
      })
      response.on('error', () => {})
    })
  }
}

function headFault(status: number, encoding = 'identity'): string | undefined {
  if (status >= 300 && status < 400) return `the answer is a redirect (${status}), which is not followed`
  if (status < 200 || status > 206) return `the answer has the status ${status}`
  return encoding === 'identity' ? undefined : 'the answer is compressed, which was not asked for'
}

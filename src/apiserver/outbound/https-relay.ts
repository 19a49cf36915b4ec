/**
 * Forwards client requests to other servers over HTTPS, or over HTTP for plain destinations. Bodies and responses are
 * streamed at the reader's pace and never buffered as a whole. The time until the response starts is limited. After
 * that, the caller limits the duration through the signal. Redirects are not followed, and nothing is decompressed.
 *
 * A request for a protocol upgrade uses its own connection, which is never reused, whatever the response.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import { readStream } from '../../base/concurrency/read-stream.ts'
import { CallError, callErrorOf } from '../../wire/http/client/call-error.ts'
import { Connections, type Destination } from './connections.ts'

// Not imported, because that would load every export of the module, including all of fetch.
const { Agent: PlainAgent, request: plainRequest } = process.getBuiltinModule('node:http')

/** A request to forward to another server. */
export interface RelayedRequest {
  readonly destination: Destination
  readonly method: string
  /** Path including the query. */
  readonly path: string
  /** Alternating names and values, without Host and the headers that define the body's length. This file sets those. */
  readonly headers: readonly string[]
  readonly body: RelayedBody | undefined
  /** The requested protocols, as in the `Upgrade` header. */
  readonly upgrade: string | undefined
  /** Whether the response may be endless. If so, `endStreams` ends it. */
  readonly isEndless: boolean
  /** Timeout for the start of the response. */
  readonly timeoutMs: number
  /** Aborts when the response is no longer needed. */
  readonly signal: AbortSignal
}

export interface RelayedBody {
  readonly stream: Readable
  /** Content-Length from the client, if any. */
  readonly length: number | undefined
  /** After the end of the stream: whether the client sent the whole body. */
  readonly isWhole: () => boolean
}

/** The response of the other server, as a stream. */
export interface RelayedAnswer {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly body: Readable
  /** The connection, if the other side has switched protocols. */
  readonly switched: Duplex | undefined
}

/** Forwards requests to other servers and streams their responses. */
export class HttpsRelay {
  readonly #connections = new Connections(Number.POSITIVE_INFINITY)
  readonly #streams = new Set<Readable | Duplex>()
  #isEnding = false

  /** Resolves when the response starts. Throws CallError if it does not start in time. */
  async send(relayed: RelayedRequest): Promise<RelayedAnswer> {
    const began = performance.now()
    try {
      return await this.#send(relayed, relayed.timeoutMs)
    } catch (error) {
      const left = relayed.timeoutMs - (performance.now() - began)
      // A body cannot be sent twice, and a write may already have taken effect.
      const mayRepeat = relayed.body === undefined && (relayed.method === 'GET' || relayed.method === 'HEAD')
      const isUnsent = error instanceof CallError && error.remedy === 'verify'
      if (!(error instanceof CallError) || left <= 0 || !(mayRepeat || isUnsent)) throw error
      if (!this.#connections.mend(relayed.destination, error)) throw error
      return await this.#send(relayed, left)
    }
  }

  /** Ends tunnels and endless responses. Later ones end as soon as they start. */
  endStreams(): void {
    this.#isEnding = true
    for (const stream of this.#streams) stream.destroy()
  }

  close(): void {
    this.endStreams()
    this.#connections.close()
  }

  #own({ body, switched }: RelayedAnswer): void {
    const stream = switched ?? body
    if (this.#isEnding) stream.destroy()
    this.#streams.add(stream)
    stream.on('close', () => this.#streams.delete(stream))
  }

  #send(relayed: RelayedRequest, timeoutMs: number): Promise<RelayedAnswer> {
    const { signal, destination, upgrade } = relayed
    if (signal.aborted) throw abandoned()
    return new Promise((resolve, reject) => {
      const outgoing = this.#open(relayed)
      const begin = (answer: RelayedAnswer) => {
        clearTimeout(timer)
        if (answer.switched !== undefined || relayed.isEndless) this.#own(answer)
        resolve(answer)
      }
      const fail = (error: CallError) => {
        clearTimeout(timer)
        reject(error)
        outgoing.destroy()
      }
      const onAbort = () => fail(abandoned())
      const timer = setTimeout(
        () => fail(new CallError('timeout', `no answer within ${Math.ceil(timeoutMs)} ms`)),
        timeoutMs,
      )
      signal.addEventListener('abort', onAbort)
      outgoing.on('close', () => signal.removeEventListener('abort', onAbort))
      outgoing.on('error', (error) => {
        fail(callErrorOf(error, { serverName: destination.serverName, isRepeatable: false }))
      })
      outgoing.on('response', (response) => begin(answerOf(response, undefined)))
      outgoing.on('upgrade', (response, socket, head) => {
        const why = upgrade === undefined ? 'an unexpected switch of protocols' : upgradeFault(response, upgrade)
        if (why !== undefined) {
          socket.destroy()
          fail(new CallError('answer', why))
          return
        }
        if (head.length > 0) socket.unshift(head)
        signal.removeEventListener('abort', onAbort)
        begin(answerOf(response, socket))
      })
      sendBody(outgoing, relayed, fail)
    })
  }

  #open({ destination, method, path, headers: passed, body, upgrade }: RelayedRequest): ClientRequest {
    const { host, port, serverName, hostHeader, plain } = destination
    const headers = [
      ...['host', hostHeader],
      ...passed,
      ...framing(method, body),
      ...(upgrade === undefined ? [] : ['connection', 'Upgrade', 'upgrade', upgrade]),
    ]
    if (plain !== undefined) return plainRequest({ host, port, path, method, headers, agent: plainAgent(plain) })
    const agent =
      upgrade === undefined ? this.#connections.agentOf(destination) : this.#connections.singleUseAgent(destination)
    return request({
      host,
      port,
      path,
      method,
      agent,
      headers,
      // SNI does not allow IP addresses. Node then checks the certificate against `host`.
      servername: isIP(serverName) === 0 ? serverName : '',
    })
  }
}

/** An agent for one connection, because the destination may be gone by the next request. */
function plainAgent(plain: NonNullable<Destination['plain']>): Agent {
  const agent = new PlainAgent({ keepAlive: false })
  return plain === 'tcp' ? agent : Object.assign(agent, { createConnection: plain })
}

function abandoned(): CallError {
  return new CallError('aborted', 'the request was abandoned')
}

function answerOf(response: IncomingMessage, switched: Duplex | undefined): RelayedAnswer {
  // The reader of the response notices a truncated body.
  response.on('error', () => {})
  return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body: response, switched }
}

/** Defines the body's length in exactly one way, so that no data after it can be interpreted as another request. */
function framing(method: string, body: RelayedBody | undefined): string[] {
  if (body === undefined) return method === 'GET' || method === 'HEAD' ? [] : ['content-length', '0']
  return body.length === undefined ? ['transfer-encoding', 'chunked'] : ['content-length', String(body.length)]
}

/** The server may choose only a protocol that was requested. */
function upgradeFault({ headers }: IncomingMessage, asked: string): string | undefined {
  const wanted = asked.split(',').map((protocol) => protocol.trim().toLowerCase())
  const chosen = (headers.upgrade ?? '').trim().toLowerCase()
  return wanted.includes(chosen) ? undefined : 'the connection was upgraded to a protocol that was not requested'
}

/**
 * Aborts the request if the body is truncated or does not match its announced length. Otherwise a partial body could
 * pass for the whole.
 */
function sendBody(outgoing: ClientRequest, { body }: RelayedRequest, fail: (error: CallError) => void): void {
  if (body === undefined) {
    outgoing.end()
    return
  }
  const { stream, length, isWhole } = body
  let sent = 0
  let ended = false
  const breakOff = () => {
    if (!ended) fail(new CallError('aborted', 'the body is incomplete'))
  }
  const onData = (chunk: Buffer) => {
    sent += chunk.length
    if (sent > (length ?? sent)) breakOff()
    else if (!outgoing.write(chunk)) {
      stream.pause()
      outgoing.once('drain', () => stream.resume())
    }
  }
  const onEnd = () => {
    if (!isWhole() || sent !== (length ?? sent)) return breakOff()
    ended = true
    outgoing.end()
  }
  readStream(stream, { onData, onEnd, onBreak: breakOff })
  // Reads the rest of an unwanted body, so that the client gets to read the response.
  outgoing.on('close', () => {
    stream.off('data', onData)
    if (!ended) stream.resume()
    ended = true
  })
}

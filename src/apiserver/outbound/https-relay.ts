/**
 * Forwards client requests to other servers over HTTPS, or over HTTP for plain destinations. Bodies and responses are
 * streamed as fast as they are read, and never buffered as a whole. The time until the response starts is limited.
 * After that, the caller limits the duration through the signal. Redirects are not followed, and responses are not
 * decompressed.
 *
 * A request for a protocol upgrade uses its own connection, which is never reused, whatever the response.
 */
import type { Duplex, Readable } from 'node:stream'
import { CallError } from '../../wire/http/client/call-error.ts'
import type { ConnectionPool } from '../../wire/http/client/connection-pool.ts'
import { bodyFraming, type StreamedBody } from '../../wire/http/client/request-body.ts'
import { requestHead } from '../../wire/http/client/request-head.ts'
import { type StreamedAnswer, streamCall } from '../../wire/http/client/streamed-call.ts'
import { Connections, type Destination } from './connections.ts'

/** A request to forward to another server. */
export interface RelayedRequest {
  readonly destination: Destination
  readonly method: string
  /** The path, including the query. */
  readonly path: string
  /**
   * Alternating names and values of headers, without Host and the headers that define the body's length. This module
   * sets those.
   */
  readonly headers: readonly string[]
  readonly body: StreamedBody | undefined
  /** The requested protocols, as in the `Upgrade` header. */
  readonly upgrade: string | undefined
  /** Whether the response may be endless. In this case, `endStreams` ends it. */
  readonly isEndless: boolean
  /** Timeout in milliseconds for the start of the response. */
  readonly timeoutMs: number
  /** Aborts when the response is no longer needed. */
  readonly signal: AbortSignal
}

/** The response of the other server, with its body as a stream. */
export interface RelayedAnswer {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly body: Readable
  /** The connection. Set if the other server has switched protocols. */
  readonly switched: Duplex | undefined
}

/** Forwards requests to other servers and streams their responses. */
export class HttpsRelay {
  readonly #connections = new Connections({ maxPerDestination: Number.POSITIVE_INFINITY, isForUsers: true })
  readonly #streams = new Set<Readable | Duplex>()
  #isEnding = false

  /** Forwards a request. Resolves when the response starts. Throws CallError if it does not start in time. */
  async send(relayed: RelayedRequest): Promise<RelayedAnswer> {
    try {
      return await this.#sendOrRepeat(relayed)
    } catch (error) {
      // The rest of an unwanted body is read, so that the client can read the response.
      relayed.body?.stream.resume()
      throw error
    }
  }

  /** Ends tunnels and endless responses. Later tunnels and endless responses end as soon as they start. */
  endStreams(): void {
    this.#isEnding = true
    for (const stream of this.#streams) stream.destroy()
  }

  close(): void {
    this.endStreams()
    this.#connections.destroy()
  }

  async #sendOrRepeat(relayed: RelayedRequest): Promise<RelayedAnswer> {
    const began = performance.now()
    try {
      return await this.#send(relayed, relayed.timeoutMs)
    } catch (error) {
      const remainingMs = relayed.timeoutMs - (performance.now() - began)
      // The remedy is set only if the request may be repeated or has not been sent.
      const mayRepeat =
        error instanceof CallError && remainingMs > 0 && this.#connections.mend(relayed.destination, error)
      if (mayRepeat) return await this.#send(relayed, remainingMs)
      throw error
    }
  }

  async #send(relayed: RelayedRequest, timeoutMs: number): Promise<RelayedAnswer> {
    const { destination, method, body, upgrade, signal } = relayed
    const isSingleUse = upgrade !== undefined || destination.plain !== undefined
    const pool = isSingleUse ? this.#connections.singleUsePool(destination) : this.#connections.poolOf(destination)
    const answer = await streamCall({
      pool,
      serverName: destination.serverName,
      method,
      head: headOf(relayed, pool),
      body,
      timeoutMs,
      signal,
      rules: { switchesAt: (status) => status === 101 },
    }).catch(asBrokenConnection)
    const switched = switchedConnection(answer, upgrade)
    const { status, rawHeaders, body: stream } = answer
    if (switched !== undefined || relayed.isEndless) this.#own(switched ?? stream)
    return { status, rawHeaders, body: stream, switched }
  }

  #own(stream: Readable | Duplex): void {
    if (this.#isEnding) stream.destroy()
    this.#streams.add(stream)
    stream.on('close', () => this.#streams.delete(stream))
  }
}

/**
 * Converts an error. Like kube-apiserver, the server returns 503 if the response is not HTTP, and 502 if the response
 * is not relayed.
 */
function asBrokenConnection(error: unknown): never {
  const isMalformed = error instanceof CallError && error.fault === 'answer'
  throw isMalformed ? new CallError('connection', error.message) : error
}

/**
 * Returns the head of a request. It defines the body's length in exactly one way, so that no data after the body can be
 * interpreted as another request.
 */
function headOf({ destination, method, path, headers, body, upgrade }: RelayedRequest, pool: ConnectionPool): string {
  const noBody = method === 'GET' || method === 'HEAD' ? [] : ['content-length', '0']
  const connection = pool.reusesConnections ? [] : ['connection', 'close']
  return requestHead(method, path, [
    ...['host', destination.hostHeader],
    ...headers,
    ...(body === undefined ? noBody : bodyFraming(body)),
    ...(upgrade === undefined ? connection : ['connection', 'Upgrade', 'upgrade', upgrade]),
  ])
}

/** Returns the switched connection. The other server may only choose a protocol that was requested. */
function switchedConnection({ headers, switched }: StreamedAnswer, asked: string | undefined): Duplex | undefined {
  if (switched === undefined) return undefined
  const { socket, rest } = switched
  const offeredProtocols = asked?.split(',').map((protocol) => protocol.trim().toLowerCase())
  if (
    offeredProtocols === undefined ||
    !offeredProtocols.includes((headers.get('upgrade') ?? '').trim().toLowerCase())
  ) {
    socket.destroy()
    const why =
      asked === undefined
        ? 'unexpected protocol switch'
        : 'the connection was upgraded to a protocol that was not requested'
    throw new CallError('answer', why)
  }
  if (rest.length > 0) socket.unshift(rest)
  return socket
}

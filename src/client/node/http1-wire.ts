/**
 * HTTP/1.1, for servers and proxies without HTTP/2. Each concurrent request uses its own connection, with keep-alive. A
 * read that fails because the server closed an idle connection is retried. A write is not retried, because the server
 * may have executed it.
 */
import { CallError } from '../../wire/http/client/call-error.ts'
import { ConnectionPool } from '../../wire/http/client/connection-pool.ts'
import { listHeaders, requestHead } from '../../wire/http/client/request-head.ts'
import { type StreamedAnswer, streamCall } from '../../wire/http/client/streamed-call.ts'
import { TransportError, type TransportResponse } from '../requests/transport.ts'
import type { Dialed } from './dial.ts'
import { joinHeaders } from './join-headers.ts'
import type { Wire, WireRequest } from './wire.ts'

export interface Http1WireOptions {
  readonly server: string
  readonly dial: () => Promise<Dialed>
}

const maxConnections = 256
const keepAliveMs = 30_000

export class Http1Wire implements Wire {
  readonly #host: string
  readonly #pool: ConnectionPool

  /** Creates the pool of connections. `first` is already open and is used first. */
  constructor({ server, dial }: Http1WireOptions, first: Dialed) {
    this.#host = new URL(server).host
    let unused: Dialed | undefined = first
    const open = async () => {
      const connection = unused === undefined || unused.destroyed ? dial() : unused
      unused = undefined
      return (await connection).setKeepAlive(true, keepAliveMs)
    }
    this.#pool = new ConnectionPool({ open, maxConnections, idleMs: 0 })
  }

  async send(wireRequest: WireRequest): Promise<TransportResponse> {
    try {
      return await this.#send(wireRequest)
    } catch (error) {
      const { signal } = wireRequest
      if (signal.aborted) throw signal.reason
      if (!(error instanceof CallError)) throw error
      throw error.cause instanceof TransportError
        ? error.cause
        : new TransportError('the connection closed before a response arrived', { cause: error.cause ?? error })
    }
  }

  retire(): void {
    this.#pool.close()
  }

  destroy(): void {
    this.#pool.destroy()
  }

  async #send(wireRequest: WireRequest): Promise<TransportResponse> {
    const { body, headers, rawHeaders, status } = await this.#call(wireRequest).catch((error: unknown) => {
      if (error instanceof CallError && error.remedy === 'reconnect') return this.#call(wireRequest)
      throw error
    })
    return { status, headers: joinHeaders({ headers, rawHeaders }), body: responseBody(body, wireRequest.signal) }
  }

  #call({ method, path, headers, body, signal }: WireRequest): Promise<StreamedAnswer> {
    const length = body?.length ?? (methodsWithBody.has(method) ? 0 : undefined)
    const framing = length === undefined ? {} : { 'content-length': String(length) }
    return streamCall({
      pool: this.#pool,
      serverName: this.#host,
      method,
      head: requestHead(method, path, listHeaders({ host: this.#host, ...headers, ...framing })),
      body,
      timeoutMs: Number.POSITIVE_INFINITY,
      signal,
    })
  }
}

/** Methods whose requests specify the length of their body even if the body is empty. */
const methodsWithBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** Yields the body. If the caller stops iterating, the connection is destroyed, so that the server stops sending. */
async function* responseBody(body: StreamedAnswer['body'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (error) {
    signal.throwIfAborted()
    throw new TransportError('the connection closed before the response was complete', { cause: error })
  }
  signal.throwIfAborted()
}

/**
 * HTTP/2 on connections that the listener has accepted. A client that takes back requests faster than anybody needs to
 * loses its connection. `close` lets streams under way finish.
 */
import {
  createServer,
  type Http2Server as NodeServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { maxHeaderBytes, maxParsedHeaders, maxStreams, resets, type Times } from './connection-limits.ts'
import type { Peer, ServerTransport } from './exchange.ts'
import { Http2Transport } from './http2.ts'
import { Http2Connection } from './http2-connection.ts'

export class Http2Server {
  readonly #server: NodeServer
  readonly #times: Times
  readonly #connections = new Map<ServerHttp2Session, Http2Connection>()
  readonly #timer: NodeJS.Timeout
  readonly #bySocket = new WeakMap<TLSSocket, Http2Connection>()
  /** The connection that is being accepted, and who is at its other end: its session is made at once. */
  #accepting: { readonly socket: TLSSocket; readonly peer: Peer } | undefined
  #waiting: Waiting[] = []

  constructor(times: Times, onRequest: (transport: ServerTransport) => void) {
    this.#times = times
    this.#server = createServer({
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
      maxHeaderListPairs: maxParsedHeaders,
      // Else a header with blanks around its value is dropped without a word, be it the one that says as whom to act.
      strictFieldWhitespaceValidation: false,
      streamResetBurst: resets.burst,
      streamResetRate: resets.perSecond,
    })
    this.#server.on('session', (session) => this.#begin(session))
    this.#server.on('stream', (stream: ServerHttp2Stream, headers, _flags, rawHeaders: string[]) => {
      // A stream that is reset emits an error as well; only that it is closed counts here.
      stream.on('error', ignore)
      const connection = this.#connections.get(stream.session as ServerHttp2Session)
      if (connection === undefined) return
      connection.begin(stream)
      this.#defer(stream, () => onRequest(new Http2Transport(stream, headers, rawHeaders, connection.peer)))
    })
    this.#timer = setInterval(() => this.#check(), times.check)
    this.#timer.unref()
  }

  accept(socket: TLSSocket, peer: Peer): void {
    this.#accepting = { socket, peer }
    this.#server.emit('connection', socket)
  }

  /** No further requests on this connection; those under way are answered. */
  end(socket: TLSSocket): void {
    this.#bySocket.get(socket)?.close()
  }

  close(): void {
    clearInterval(this.#timer)
    for (const connection of this.#connections.values()) connection.close()
  }

  #begin(session: ServerHttp2Session): void {
    const { socket, peer } = this.#accepting!
    const connection = new Http2Connection(session, peer, this.#times)
    this.#connections.set(session, connection)
    this.#bySocket.set(socket, connection)
    session.on('close', () => this.#connections.delete(session))
    session.on('error', () => session.destroy())
  }

  /** Requests are begun when all that came with them has been read: many a one is taken back in the same packet. */
  #defer(stream: ServerHttp2Stream, begin: () => void): void {
    if (this.#waiting.push({ stream, begin }) === 1) setImmediate(() => this.#beginWaiting())
  }

  #beginWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { stream, begin } of waiting) if (!stream.closed) begin()
  }

  #check(): void {
    const now = performance.now()
    for (const connection of this.#connections.values()) connection.check(now)
  }
}

interface Waiting {
  readonly stream: ServerHttp2Stream
  readonly begin: () => void
}

function ignore(): void {}

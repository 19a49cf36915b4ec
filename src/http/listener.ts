/**
 * One TLS port for HTTP/2 and HTTP/1.1, told apart by ALPN, with optional client certificates.
 *
 * Bounds what a client can hold: handshake, headers, body and idle times, header sizes, streams per connection. Owns
 * every connection until `close`, which lets answers under way finish within the time given.
 */
import { createServer as createHttp1, type Server as Http1Server } from 'node:http'
import {
  createServer as createHttp2,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import {
  createServer as createTls,
  type SecureContextOptions,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls'
import type { Peer, Transport } from './exchange.ts'
import { http1Transport } from './http1.ts'
import { http2Transport } from './http2.ts'

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  readonly tls: SecureContextOptions
  readonly onRequest: (transport: Transport) => void
  readonly onError: (error: unknown) => void
}

const seconds = 1000
const handshakeTimeout = 10 * seconds
const headersTimeout = 30 * seconds
/** Longer than any deadline of ours: the deadline answers, this one only cuts off who does not even send. */
const requestTimeout = 90 * seconds
const idleTimeout = 180 * seconds
const maxHeaderBytes = 128 * 1024
/** Node counts what it drops silently, so its limit is above ours, which is answered with 431. */
const maxParsedHeaders = 2000
const maxStreams = 250

export class Listener {
  readonly #tls: TlsServer
  readonly #http1: Http1Server
  readonly #http2: Http2Server
  /** Every open connection, and who is at its other end: read once, when it opens. */
  readonly #sockets = new Map<TLSSocket, Peer>()
  readonly #sessions = new Map<ServerHttp2Session, Peer>()

  private constructor(options: ListenerOptions) {
    this.#http1 = this.#makeHttp1(options)
    this.#http2 = this.#makeHttp2(options)
    this.#tls = createTls({
      ...options.tls,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout,
    })
    this.#tls.on('secureConnection', (socket) => this.#accept(socket))
    this.#tls.on('tlsClientError', () => {})
  }

  static async open(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options)
    await new Promise<void>((resolve, reject) => {
      listener.#tls.once('error', reject)
      listener.#tls.listen(options.port, options.host, () => {
        listener.#tls.off('error', reject)
        listener.#tls.on('error', options.onError)
        resolve()
      })
    })
    return listener
  }

  get port(): number {
    const address = this.#tls.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Certificates for connections from now on. */
  renew(tls: SecureContextOptions): void {
    this.#tls.setSecureContext(tls)
  }

  /** Stops listening, lets answers under way finish, and cuts off what is left after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#tls.close(() => resolve()))
    this.#http1.close()
    this.#http1.closeIdleConnections()
    for (const session of this.#sessions.keys()) session.close()
    const timer = setTimeout(() => {
      for (const socket of this.#sockets.keys()) socket.destroy()
    }, graceMs)
    await closed
    clearTimeout(timer)
  }

  #accept(socket: TLSSocket): void {
    this.#sockets.set(socket, readPeer(socket))
    socket.on('close', () => this.#sockets.delete(socket))
    // A connection that breaks is its client's affair; what was being answered sees its signal abort.
    socket.on('error', () => socket.destroy())
    if (socket.alpnProtocol === 'h2') this.#http2.emit('connection', socket)
    else this.#http1.emit('connection', socket)
  }

  #makeHttp1(options: ListenerOptions): Http1Server {
    const server = createHttp1({
      headersTimeout,
      requestTimeout,
      keepAliveTimeout: idleTimeout,
      maxHeaderSize: maxHeaderBytes,
      connectionsCheckingInterval: 5 * seconds,
      requireHostHeader: true,
    })
    server.maxHeadersCount = maxParsedHeaders
    server.on('request', (request, response) =>
      options.onRequest(http1Transport(request, response, this.#peerOf(request.socket))),
    )
    // The timers for slow clients are started by listening, which the TLS server does for this one.
    server.emit('listening')
    return server
  }

  #peerOf(socket: unknown): Peer {
    return this.#sockets.get(socket as TLSSocket) ?? nobody
  }

  #makeHttp2(options: ListenerOptions): Http2Server {
    const server = createHttp2({
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
      maxHeaderListPairs: maxParsedHeaders,
    })
    server.on('session', (session) => {
      this.#sessions.set(session, readPeer(session.socket as TLSSocket))
      session.setTimeout(idleTimeout, () => session.close())
      session.on('close', () => this.#sessions.delete(session))
      session.on('error', () => session.destroy())
    })
    server.on('stream', (stream: ServerHttp2Stream, headers, _flags, rawHeaders: string[]) => {
      const peer = stream.session && this.#sessions.get(stream.session as ServerHttp2Session)
      options.onRequest(http2Transport(stream, headers, rawHeaders, peer ?? nobody))
    })
    return server
  }
}

const nobody: Peer = { address: '', certificate: undefined }

function readPeer(socket: TLSSocket): Peer {
  const x509 = socket.getPeerX509Certificate()
  return { address: socket.remoteAddress ?? '', certificate: x509 && { x509, trusted: socket.authorized } }
}

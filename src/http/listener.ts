/**
 * One TLS port for HTTP/2 and HTTP/1.1, told apart by ALPN, with optional client certificates.
 *
 * Bounds what a client can hold: handshake, headers, body and idle times, header sizes, streams per connection. Owns
 * every connection until `close`, which lets answers under way finish within the time given.
 */
import {
  createServer as createHttp1,
  type Server as Http1Server,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import {
  createServer as createHttp2,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
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
  readonly times?: Times
}

/** How long a client may take, in milliseconds. */
export interface Times {
  readonly handshake: number
  readonly headers: number
  /** Longer than any deadline of ours: the deadline answers, this one only cuts off who does not even send. */
  readonly request: number
  readonly idle: number
  /** How often slow clients are looked for. */
  readonly check: number
}

const seconds = 1000
const defaultTimes: Times = {
  handshake: 10 * seconds,
  headers: 30 * seconds,
  request: 90 * seconds,
  idle: 180 * seconds,
  check: 5 * seconds,
}
/** How long a client that was refused may go on sending, so that it gets to read why. */
const lingerTime = 2 * seconds
const maxHeaderBytes = 128 * 1024
/** Node counts what it drops silently, so its limit is above ours, which is answered with 431. */
const maxParsedHeaders = 2000
const maxStreams = 250

export class Listener {
  readonly #tls: TlsServer
  readonly #http1: Http1Server
  readonly #http2: Http2Server
  readonly #sockets = new Set<Socket>()
  readonly #sessions = new Set<ServerHttp2Session>()
  /** Answers in HTTP/1.1 that are under way. */
  readonly #answers = new Set<ServerResponse>()
  #closing = false

  private constructor(options: ListenerOptions) {
    this.#http1 = makeHttp1(options, (answer) => this.#track(answer))
    this.#http2 = this.#makeHttp2(options)
    this.#tls = createTls({
      ...options.tls,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: (options.times ?? defaultTimes).handshake,
    })
    this.#tls.on('connection', (socket) => this.#own(socket))
    this.#tls.on('secureConnection', (socket) => this.#accept(socket))
    // A handshake that fails or takes too long leaves its connection open.
    this.#tls.on('tlsClientError', (_, socket) => socket.destroy())
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
    this.#closing = true
    const closed = new Promise<void>((resolve) => this.#tls.close(() => resolve()))
    for (const answer of this.#answers) endAfter(answer)
    this.#http1.close()
    this.#http1.closeIdleConnections()
    for (const session of this.#sessions) session.close()
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, graceMs)
    await closed
    clearTimeout(timer)
  }

  #track(answer: ServerResponse): void {
    this.#answers.add(answer)
    answer.on('close', () => this.#answers.delete(answer))
    if (this.#closing) endAfter(answer)
  }

  #own(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #accept(socket: TLSSocket): void {
    this.#own(socket)
    // A connection that breaks is its client's affair; what was being answered sees its signal abort.
    socket.on('error', () => socket.destroy())
    if (socket.alpnProtocol === 'h2') this.#http2.emit('connection', socket)
    else this.#http1.emit('connection', socket)
  }

  #makeHttp2(options: ListenerOptions): Http2Server {
    const server = createHttp2({
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
      maxHeaderListPairs: maxParsedHeaders,
    })
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.setTimeout((options.times ?? defaultTimes).idle, () => session.close())
      session.on('close', () => this.#sessions.delete(session))
      session.on('error', () => session.destroy())
    })
    server.on('stream', (stream: ServerHttp2Stream, headers, _flags, rawHeaders: string[]) => {
      const peer = peerOf(stream.session?.socket as TLSSocket | undefined)
      options.onRequest(http2Transport(stream, headers, rawHeaders, peer))
    })
    return server
  }
}

function makeHttp1(options: ListenerOptions, onAnswer: (answer: ServerResponse) => void): Http1Server {
  const times = options.times ?? defaultTimes
  const server = createHttp1({
    headersTimeout: times.headers,
    requestTimeout: times.request,
    keepAliveTimeout: times.idle,
    maxHeaderSize: maxHeaderBytes,
    connectionsCheckingInterval: times.check,
    // Node would answer a request without one, and still carry out what comes after it.
    requireHostHeader: false,
  })
  server.maxHeadersCount = maxParsedHeaders
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (request, response) => {
    const { socket } = request
    // What follows a request that was refused is not carried out: it may be part of that one.
    if (socket.writableEnded) return
    if (!namesHost(request)) return refuse(socket, new Error('a request names one host'), answers.get(socket))
    answers.set(socket, response)
    onAnswer(response)
    options.onRequest(http1Transport(request, response, peerOf(socket as TLSSocket)))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(socket, error, answers.get(socket)))
  // The timers for slow clients are started by listening, which the TLS server does for this one.
  server.emit('listening')
  return server
}

/** Ends the connection with this answer: nothing more is read on it. */
function endAfter(answer: ServerResponse): void {
  answer.shouldKeepAlive = false
  // An answer that has begun has promised to keep the connection.
  const { socket } = answer
  if (answer.headersSent) answer.on('finish', () => socket?.end())
}

/** Who passed a request with two hosts on may have gone by the other one. */
function namesHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === 'host').length
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

const refusals: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/** Answers what is no HTTP, unless an answer has begun, and ends the connection. */
function refuse(socket: Duplex, error: NodeJS.ErrnoException, answer: ServerResponse | undefined): void {
  // What comes after the first fault is not looked at.
  if (socket.writableEnded) return
  const begun = answer?.headersSent && !answer.writableFinished
  if (begun || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = refusals.get(error.code ?? '') ?? '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  const timer = setTimeout(() => socket.destroy(), lingerTime)
  socket.on('close', () => clearTimeout(timer))
}

const peers = new WeakMap<TLSSocket, Peer>()
const nobody: Peer = { address: '', certificate: undefined }

/** Read once per connection. */
function peerOf(socket: TLSSocket | undefined): Peer {
  if (socket === undefined) return nobody
  let peer = peers.get(socket)
  if (peer === undefined) {
    const x509 = socket.getPeerX509Certificate()
    peer = { address: socket.remoteAddress ?? '', certificate: x509 && { x509, trusted: socket.authorized } }
    peers.set(socket, peer)
  }
  return peer
}

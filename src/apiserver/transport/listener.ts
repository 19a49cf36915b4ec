/**
 * Listens on a TLS port for HTTP/2 and HTTP/1.1, selected by ALPN, with optional client certificates. The listener owns
 * all its connections until `close`, which lets running requests finish within the grace period. Neither
 * unauthenticated clients (`unauthenticated-connections.ts`) nor a single user (`connection-counts.ts`) can use all
 * connections. If the limit is reached, the listener logs an error and rejects new connections.
 */
import { constants, type X509Certificate } from 'node:crypto'
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls'
import type { User } from '../../api/model/user.ts'
import { readFairly } from '../../wire/http/fair-reading.ts'
import type { ShownCertificate } from '../authn/authenticator.ts'
import { ConnectionCounts } from './connection-counts.ts'
import { defaultTimes, lingerTime, maxConnectionsFor, strangersFor, type Times } from './connection-limits.ts'
import type { HttpEngine, HttpEngineName } from './engine.ts'
import { HandshakeQueue } from './handshake-queue.ts'
import { Http1Server } from './http1/server.ts'
import { Http2Server } from './http2/server.ts'
import { loadEngine } from './load-engine.ts'
import type { Peer, ServerTransport } from './server-transport.ts'
import { connectionKey, networkOf, UnauthenticatedConnections } from './unauthenticated-connections.ts'
import { type EvictionChannel, WorkerEvictions } from './worker-evictions.ts'

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  /**
   * Whether other workers listen on the same port. If so, the kernel distributes the connections. Defaults to false.
   */
  readonly reusePort?: boolean
  readonly tls: SecureContextOptions
  /** The HTTP implementation. Defaults to `orch`, which is this project's own. */
  readonly httpEngine?: HttpEngineName
  /** Probability, from 0 to 1, that an HTTP/2 request is the last request on its connection. Defaults to 0. */
  readonly goawayChance?: number
  /**
   * The minimum TLS version and the ciphers, which also apply to renewed certificates. Defaults to TLS 1.2 and Node's
   * ciphers.
   */
  readonly security?: Security
  readonly onRequest: (transport: ServerTransport) => void
  /** Returns whether a request with this target may be upgraded to another protocol. By default, none may. */
  readonly maySwitch?: (target: string) => boolean
  readonly onError: (error: unknown) => void
  readonly times?: Times
  /** Counts the connections of all workers and enforces their limits. */
  readonly connections?: ConnectionCounts
  /** The channel that workers use to ask each other to evict connections. Undefined if there is a single worker. */
  readonly evictions?: EvictionChannel | undefined
}

/** The TLS settings that flags can change. */
export type Security = Pick<SecureContextOptions, 'minVersion' | 'ciphers'>

/**
 * Number of connections that may be accepted above the limit. Each of them either evicts another connection or is
 * closed.
 */
const meetingPlaces = 16

const defaultMaxima = { total: maxConnectionsFor(1024), perUser: 2000 }
/** Minimum interval in milliseconds between log messages about the connection limit. */
const tellEveryMs = 10_000

/** A TLS port with its connections. */
export class Listener {
  readonly #tcp: TcpServer
  /** The TLS server, which never listens. The handshake queue passes each connection to it. */
  readonly #tls: TlsServer
  readonly #handshakes: HandshakeQueue
  readonly #security: Security
  readonly #http1: Http1Server
  readonly #http2: Http2Server
  readonly #strangers: UnauthenticatedConnections
  readonly #connections: ConnectionCounts
  readonly #evictions: WorkerEvictions | undefined
  readonly #onError: (error: unknown) => void
  readonly #sockets = new Set<Socket>()
  readonly #peers = new Map<TLSSocket, Peer>()
  /** Number of connections accepted so far. */
  #acceptedCount = 0
  /** Resolves when the listener has closed its last connection. Undefined until it starts closing. */
  #closed: Promise<void> | undefined
  #toldFull = Number.NEGATIVE_INFINITY

  private constructor(options: ListenerOptions, engine: HttpEngine) {
    const { tls, onRequest, onError, times = defaultTimes } = options
    const { maySwitch = () => false, security = {} } = options
    this.#connections = options.connections ?? new ConnectionCounts(defaultMaxima)
    const { maxima, workers } = this.#connections
    this.#onError = onError
    this.#security = security
    const { evictions } = options
    this.#strangers = new UnauthenticatedConnections(strangersFor(maxima, workers), evictions && this.#connections)
    const evict = (remoteAddress: string) => this.#strangers.evictFor(remoteAddress)
    this.#evictions = evictions && new WorkerEvictions(evictions, meetingPlaces, evict)
    this.#http1 = new Http1Server(engine, times, { onRequest, maySwitch })
    this.#http2 = new Http2Server(engine, times, withGoaway(onRequest, options.goawayChance ?? 0))
    this.#tcp = createTcpServer({
      // Set TCP_NODELAY. Otherwise, the last chunk of a response would wait until the client has acknowledged the
      // previous one, which takes 40 ms over HTTP/1.1.
      noDelay: true,
      // Enable keep-alive probes, which detect clients that have disappeared without closing the connection.
      keepAlive: true,
      keepAliveInitialDelay: times.headers,
    })
    this.#tls = createTlsServer({
      ...contextOf(tls, security),
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: times.handshake,
    })
    this.#handshakes = new HandshakeQueue((socket) => this.#tls.emit('connection', socket), times.handshake)
    // Accept slightly more connections than allowed. `#meet` then makes room by closing an unauthenticated connection.
    this.#tcp.maxConnections = maxima.total + meetingPlaces
    this.#tcp.on('drop', () => this.#tellFull(`${maxima.total} connections are open`))
    this.#tcp.on('connection', (socket) => this.#meet(socket))
    this.#tls.on('secureConnection', (socket) => this.#accept(socket))
    this.#tls.on('tlsClientError', (error, socket) => this.#onNoHandshake(error, socket))
  }

  static async open(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options, await loadEngine(options.httpEngine ?? 'orch'))
    await new Promise<void>((resolve, reject) => {
      listener.#tcp.once('error', reject)
      const { host, port, reusePort = false } = options
      listener.#tcp.listen({ host, port, reusePort }, () => {
        listener.#tcp.off('error', reject)
        listener.#tcp.on('error', (error) => listener.#onFailure(error))
        resolve()
      })
    })
    return listener
  }

  get port(): number {
    const address = this.#tcp.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /**
   * Closes each connection of a random subset once its running requests are complete, so that the clients reconnect.
   * `chance` is the probability for each connection.
   */
  moveClients(chance: number): void {
    for (const { end } of this.#peers.values()) if (Math.random() < chance) end()
  }

  /**
   * Stops listening, and closes each connection once its running requests are complete. Resolves when all connections
   * are closed. Meanwhile, other workers accept new connections.
   */
  async leave(): Promise<void> {
    await this.#takeWaiting()
    const closed = this.#closeServer()
    this.#http1.close()
    this.#http2.close()
    await closed
  }

  /** Replaces the certificates, which affects only new connections. */
  renew(tls: SecureContextOptions): void {
    this.#tls.setSecureContext(contextOf(tls, this.#security))
  }

  /** Closes the connections of all clients that match `which`, without waiting for their requests. */
  cutOff(which: (peer: Peer) => boolean): void {
    for (const [socket, peer] of this.#peers) if (which(peer)) socket.destroy()
  }

  /**
   * Stops listening, lets running requests finish, and closes the remaining connections after `graceMs`. Clients are
   * asked to reconnect only after `othersStopped` resolves, that is, when the other listeners on the same port have
   * stopped. Until then, a client could reconnect to another worker of this stopping server.
   */
  async close(graceMs: number, othersStopped?: () => Promise<void>): Promise<void> {
    await this.#takeWaiting()
    const closed = this.#closeServer()
    if (othersStopped !== undefined) await othersStopped()
    this.#http1.close()
    this.#http2.close()
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, graceMs)
    await closed
    clearTimeout(timer)
    this.#evictions?.close()
  }

  /** Stops listening. Resolves when all connections are closed. */
  #closeServer(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => this.#tcp.close(() => resolve()))
    return this.#closed
  }

  /**
   * Accepts the connections that the kernel has already established, because closing the listening socket would reset
   * these connections.
   */
  async #takeWaiting(): Promise<void> {
    const end = performance.now() + lingerTime
    for (let acceptedCount = -1; acceptedCount !== this.#acceptedCount && performance.now() < end; ) {
      acceptedCount = this.#acceptedCount
      // Wait for one whole turn of the event loop. The first `setImmediate` callback may still belong to the turn that
      // has already begun.
      await setImmediate()
      await setImmediate()
    }
  }

  #meet(socket: Socket): void {
    this.#acceptedCount++
    this.#own(socket)
    const isFull = !this.#connections.open()
    const admission = this.#strangers.admit(socket)
    if (admission === 'rejected' || (isFull && admission === 'admitted' && !this.#makeRoom(socket))) {
      if (!isFull) this.#connections.close()
      socket.destroy()
      return
    }
    if (isFull) this.#connections.openInPlace()
    socket.on('close', () => this.#connections.close())
    this.#handshakes.add(socket)
  }

  /**
   * Closes an unauthenticated connection to make room for a new one, so that unauthenticated connections cannot use up
   * the connections reserved for system:masters. Returns false if no connection may be closed.
   */
  #makeRoom(socket: Socket): boolean {
    if (this.#strangers.evictFor(socket.remoteAddress ?? '')) return true
    if (this.#evictions?.makeRoom(socket, this.#connections.otherWorkersWithStrangers()) === true) return true
    this.#tellFull(`${this.#connections.maxima.total} connections are open`)
    return false
  }

  /**
   * Closes a connection whose TLS handshake failed or timed out. A client that uses plain HTTP receives an explanation.
   */
  #onNoHandshake({ code }: NodeJS.ErrnoException, socket: TLSSocket): void {
    const below = code === 'ERR_SSL_HTTP_REQUEST' ? this.#strangers.find(socket) : undefined
    if (below === undefined) socket.destroy()
    else below.end(plainHttpRefusal, () => socket.destroy())
  }

  #onFailure(error: NodeJS.ErrnoException): void {
    if (error.code === 'EMFILE' || error.code === 'ENFILE') this.#tellFull('no free file descriptors')
    else this.#onError(error)
  }

  #tellFull(why: string): void {
    if (performance.now() - this.#toldFull < tellEveryMs) return
    this.#toldFull = performance.now()
    this.#onError(
      new Error(`${why}; rejecting new connections: raise the open-file limit (ulimit -n) or --max-connections`),
    )
  }

  #own(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #accept(socket: TLSSocket): void {
    this.#own(socket)
    // A broken connection is not a server error. Its requests detect the disconnect themselves.
    socket.on('error', () => socket.destroy())
    this.#strangers.becomes(socket)
    const server = socket.alpnProtocol === 'h2' ? this.#http2 : this.#http1
    // Reads are limited per client, across all its connections. Until a user is authenticated, all clients in a network
    // count as one.
    let client = `network ${networkOf(socket.remoteAddress ?? '')}`
    const peer = this.#peer(socket, { end: () => server.end(socket), onUser: ({ name }) => (client = `user ${name}`) })
    this.#peers.set(socket, peer)
    socket.on('close', () => this.#peers.delete(socket))
    readFairly(socket, () => client)
    server.accept(socket, peer)
  }

  #peer(socket: TLSSocket, { end, onUser }: { readonly end: () => void; readonly onUser: (user: User) => void }): Peer {
    const key = connectionKey(socket)
    let isAdmitted = false
    const admit = (user: User): string | undefined => {
      const admission = this.#connections.admit(user)
      if ('refusal' in admission) return admission.refusal
      isAdmitted = true
      onUser(user)
      this.#strangers.knows(key)
      if (socket.destroyed) this.#connections.release(admission.counter)
      else socket.once('close', () => this.#connections.release(admission.counter))
      return undefined
    }
    return {
      address: socket.remoteAddress ?? '',
      certificate: certificateOf(socket),
      proved: (user) => (isAdmitted ? undefined : admit(user)),
      get isProved() {
        return isAdmitted
      },
      end,
    }
  }
}

/**
 * Returns a request handler that closes some HTTP/2 connections after a request. The client then reconnects and may
 * reach another server or worker. Otherwise, clients would stay with their first worker permanently.
 */
function withGoaway(onRequest: ListenerOptions['onRequest'], chance: number): ListenerOptions['onRequest'] {
  if (chance === 0) return onRequest
  return (transport) => {
    onRequest(transport)
    if (Math.random() < chance) transport.peer.end()
  }
}

/**
 * Disables TLS session resumption. A resumed session would repeat the original verification result, and contains only
 * the first certificate of the client.
 */
function contextOf(tls: SecureContextOptions, security: Security): SecureContextOptions {
  return { ...tls, minVersion: 'TLSv1.2', ...security, secureOptions: constants.SSL_OP_NO_TICKET }
}

function certificateOf(socket: TLSSocket): ShownCertificate | undefined {
  const x509 = socket.getPeerX509Certificate()
  if (x509 === undefined) return undefined
  const intermediates: X509Certificate[] = []
  // Node treats the next certificate that the client sent as the issuer, even if it is not the actual issuer.
  for (let next = x509.issuerCertificate; next !== undefined; next = next.issuerCertificate) intermediates.push(next)
  return { x509, intermediates, trusted: socket.authorized }
}

const plainHttpText = 'This port supports only HTTPS: use https:// instead of http:// in the address.\n'
const plainHttpRefusal = [
  'HTTP/1.1 400 Bad Request',
  'content-type: text/plain; charset=utf-8',
  `content-length: ${plainHttpText.length}`,
  'connection: close',
  '',
  plainHttpText,
].join('\r\n')

/**
 * One TLS port for HTTP/2 and HTTP/1.1, chosen by ALPN, with optional client certificates. Owns every connection
 * until `close`, which lets answers under way finish within the time given. Strangers never take all the room there is
 * (`unauthenticated-connections.ts`), and no user does (`connection-counts.ts`). When there is none left, that is logged and
 * the server goes on.
 */
import { constants, type X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls'
import type { User } from '../../api/model/user.ts'
import type { ShownCertificate } from '../authn/authenticator.ts'
import { ConnectionCounts } from './connection-counts.ts'
import { defaultTimes, lingerTime, maxConnectionsFor, strangersFor, type Times } from './connection-limits.ts'
import type { HttpEngine, HttpEngineName } from './engine.ts'
import { Http1Server } from './http1/server.ts'
import { Http2Server } from './http2/server.ts'
import { loadEngine } from './load-engine.ts'
import type { Peer, ServerTransport } from './server-transport.ts'
import { connectionKey, UnauthenticatedConnections } from './unauthenticated-connections.ts'

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  /** Whether others in this process listen there too: the system then spreads the connections; false by default. */
  readonly reusePort?: boolean
  readonly tls: SecureContextOptions
  /** Who reads HTTP; our own code by default. */
  readonly httpEngine?: HttpEngineName
  /** How likely a request over HTTP/2 is the last of its connection, from 0 to 1; 0 by default. */
  readonly goawayChance?: number
  /** The lowest version and the ciphers, also for certificates that come later; TLS 1.2 and those of Node by default. */
  readonly security?: Security
  readonly onRequest: (transport: ServerTransport) => void
  /** Whether a request for this path and query may be answered by switching protocols; by default none may. */
  readonly maySwitch?: (target: string) => boolean
  readonly onError: (error: unknown) => void
  readonly times?: Times
  /** Counts the connections of all workers, and bounds them. */
  readonly connections?: ConnectionCounts
}

/** Which versions and ciphers of TLS are spoken. */
export type Security = Pick<SecureContextOptions, 'minVersion' | 'ciphers'>

/** How many connections are met while others are about to close for them. */
const meetingPlaces = 16

const defaultMaxima = { total: maxConnectionsFor(1024), perUser: 2000 }
/** How often it is logged that there is no room. */
const tellEveryMs = 10_000

/** Accepts connections over TLS. */
export class Listener {
  readonly #tls: Server
  readonly #security: Security
  readonly #http1: Http1Server
  readonly #http2: Http2Server
  readonly #strangers: UnauthenticatedConnections
  readonly #connections: ConnectionCounts
  readonly #onError: (error: unknown) => void
  readonly #sockets = new Set<Socket>()
  readonly #peers = new Map<TLSSocket, Peer>()
  /** How many connections there have been. */
  #taken = 0

  #toldFull = Number.NEGATIVE_INFINITY

  private constructor(options: ListenerOptions, engine: HttpEngine) {
    const { tls, onRequest, onError, times = defaultTimes } = options
    const { maySwitch = () => false, security = {} } = options
    this.#connections = options.connections ?? new ConnectionCounts(defaultMaxima)
    const { maxima, workers } = this.#connections
    this.#onError = onError
    this.#security = security
    this.#strangers = new UnauthenticatedConnections(strangersFor(maxima, workers))
    this.#http1 = new Http1Server(engine, times, { onRequest, maySwitch })
    this.#http2 = new Http2Server(engine, times, withGoaway(onRequest, options.goawayChance ?? 0))
    this.#tls = createServer({
      ...contextOf(tls, security),
      // Else the last part of an answer in parts waits for the client to acknowledge the one before: 40 ms on HTTP/1.1.
      noDelay: true,
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: times.handshake,
      // The system notices a client that vanished without closing the connection, even where there is nothing to send to it.
      keepAlive: true,
      keepAliveInitialDelay: times.headers,
    })
    // A few more than may stay, so that `#meet` can close a stranger for one of them.
    this.#tls.maxConnections = maxima.total + meetingPlaces
    this.#tls.on('drop', () => this.#tellFull(`${maxima.total} connections are open`))
    this.#tls.on('connection', (socket) => this.#meet(socket))
    this.#tls.on('secureConnection', (socket) => this.#accept(socket))
    this.#tls.on('tlsClientError', (error, socket) => this.#onNoHandshake(error, socket))
  }

  static async open(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options, await loadEngine(options.httpEngine ?? 'orch'))
    await new Promise<void>((resolve, reject) => {
      listener.#tls.once('error', reject)
      const { host, port, reusePort = false } = options
      listener.#tls.listen({ host, port, reusePort }, () => {
        listener.#tls.off('error', reject)
        listener.#tls.on('error', (error) => listener.#onFailure(error))
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
    this.#tls.setSecureContext(contextOf(tls, this.#security))
  }

  /** Cuts off the connections of these peers, whatever is under way on them. */
  cutOff(which: (peer: Peer) => boolean): void {
    for (const [socket, peer] of this.#peers) if (which(peer)) socket.destroy()
  }

  /**
   * Stops listening, lets answers under way finish, and cuts off what is left after `graceMs`. Clients are told that their
   * connections end once `othersStopped`, who listen on the same port: a client that connects anew is then refused by all.
   */
  async close(graceMs: number, othersStopped?: () => Promise<void>): Promise<void> {
    await this.#takeWaiting()
    const closed = new Promise<void>((resolve) => this.#tls.close(() => resolve()))
    if (othersStopped !== undefined) await othersStopped()
    this.#http1.close()
    this.#http2.close()
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, graceMs)
    await closed
    clearTimeout(timer)
  }

  /** Connections that are made but not yet taken from the system would be reset by not listening any more. */
  async #takeWaiting(): Promise<void> {
    const end = performance.now() + lingerTime
    for (let taken = -1; taken !== this.#taken && performance.now() < end; ) {
      taken = this.#taken
      // One turn of the loop takes one at least; the first immediate may still belong to the turn before.
      await setImmediate()
      await setImmediate()
    }
  }

  #meet(socket: Socket): void {
    this.#taken++
    this.#own(socket)
    if (!this.#connections.open()) {
      // A stranger gives way, so that strangers cannot hold the connections that are kept for system:masters.
      if (!this.#strangers.evictFor(socket)) {
        this.#tellFull(`${this.#connections.maxima.total} connections are open`)
        socket.destroy()
        return
      }
      this.#connections.openInPlace()
    }
    socket.on('close', () => this.#connections.close())
    if (!this.#strangers.admit(socket)) socket.destroy()
  }

  /**
   * A handshake that fails or takes too long leaves its connection open. A client that speaks plain HTTP gets an answer
   * that says so.
   */
  #onNoHandshake({ code }: NodeJS.ErrnoException, socket: TLSSocket): void {
    const below = code === 'ERR_SSL_HTTP_REQUEST' ? this.#strangers.find(socket) : undefined
    if (below === undefined) socket.destroy()
    else below.end(plainHttpRefusal, () => socket.destroy())
  }

  #onFailure(error: NodeJS.ErrnoException): void {
    if (error.code === 'EMFILE' || error.code === 'ENFILE') this.#tellFull('no file can be opened any more')
    else this.#onError(error)
  }

  #tellFull(why: string): void {
    if (performance.now() - this.#toldFull < tellEveryMs) return
    this.#toldFull = performance.now()
    this.#onError(
      new Error(`${why}, so new ones are turned away: raise the limit of open files (ulimit -n) or --max-connections`),
    )
  }

  #own(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #accept(socket: TLSSocket): void {
    this.#own(socket)
    // A connection that breaks is its client's affair; what was being answered finds its client gone.
    socket.on('error', () => socket.destroy())
    this.#strangers.becomes(socket)
    const server = socket.alpnProtocol === 'h2' ? this.#http2 : this.#http1
    const peer = this.#peer(socket, () => server.end(socket))
    this.#peers.set(socket, peer)
    socket.on('close', () => this.#peers.delete(socket))
    server.accept(socket, peer)
  }

  #peer(socket: TLSSocket, end: () => void): Peer {
    const key = connectionKey(socket)
    let isAdmitted = false
    const admit = (user: User): string | undefined => {
      const admission = this.#connections.admit(user)
      if ('refusal' in admission) return admission.refusal
      isAdmitted = true
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

/** The client then connects anew, and so may come to another server or worker: else it would stay with the first for good. */
function withGoaway(onRequest: ListenerOptions['onRequest'], chance: number): ListenerOptions['onRequest'] {
  if (chance === 0) return onRequest
  return (transport) => {
    onRequest(transport)
    if (Math.random() < chance) transport.peer.end()
  }
}

/**
 * No session is resumed: of the client's certificates a session keeps the first alone, and what TLS thought of it at
 * that time. Each connection shows them all, and they are judged anew.
 */
function contextOf(tls: SecureContextOptions, security: Security): SecureContextOptions {
  return { ...tls, minVersion: 'TLSv1.2', ...security, secureOptions: constants.SSL_OP_NO_TICKET }
}

function certificateOf(socket: TLSSocket): ShownCertificate | undefined {
  const x509 = socket.getPeerX509Certificate()
  if (x509 === undefined) return undefined
  const sent: X509Certificate[] = []
  // Node calls the one that was sent next the issuer, whether it is or not.
  for (let next = x509.issuerCertificate; next !== undefined; next = next.issuerCertificate) sent.push(next)
  return { x509, sent, trusted: socket.authorized }
}

const plainHttpText = 'This port speaks HTTPS only: use https:// instead of http:// in the address.\n'
const plainHttpRefusal = [
  'HTTP/1.1 400 Bad Request',
  'content-type: text/plain; charset=utf-8',
  `content-length: ${plainHttpText.length}`,
  'connection: close',
  '',
  plainHttpText,
].join('\r\n')

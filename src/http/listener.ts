/**
 * One TLS port for HTTP/2 and HTTP/1.1, told apart by ALPN, with optional client certificates. Owns every connection
 * until `close`, which lets answers under way finish within the time given.
 */
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls'
import { defaultTimes, lingerTime, type Times } from './connection-limits.ts'
import type { Peer, Transport } from './exchange.ts'
import { Http1Server } from './http1-server.ts'
import { Http2Server } from './http2-server.ts'

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  readonly tls: SecureContextOptions
  readonly onRequest: (transport: Transport) => void
  readonly onError: (error: unknown) => void
  readonly times?: Times
}

export class Listener {
  readonly #tls: Server
  readonly #http1: Http1Server
  readonly #http2: Http2Server
  readonly #sockets = new Set<Socket>()
  /** How many connections there have been. */
  #taken = 0

  private constructor({ tls, onRequest, times = defaultTimes }: ListenerOptions) {
    this.#http1 = new Http1Server(times, onRequest)
    this.#http2 = new Http2Server(times, onRequest)
    this.#tls = createServer({
      ...tls,
      minVersion: 'TLSv1.2',
      // Else the last part of an answer in parts waits for the client to acknowledge the one before: 40 ms on HTTP/1.1.
      noDelay: true,
      ALPNProtocols: ['h2', 'http/1.1'],
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: times.handshake,
    })
    this.#tls.on('connection', (socket) => {
      this.#taken++
      this.#own(socket)
    })
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
    await this.#takeWaiting()
    const closed = new Promise<void>((resolve) => this.#tls.close(() => resolve()))
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

  #own(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #accept(socket: TLSSocket): void {
    this.#own(socket)
    // A connection that breaks is its client's affair; what was being answered finds its client gone.
    socket.on('error', () => socket.destroy())
    const server = socket.alpnProtocol === 'h2' ? this.#http2 : this.#http1
    server.accept(socket, readPeer(socket))
  }
}

function readPeer(socket: TLSSocket): Peer {
  const x509 = socket.getPeerX509Certificate()
  return { address: socket.remoteAddress ?? '', certificate: x509 && { x509, trusted: socket.authorized } }
}

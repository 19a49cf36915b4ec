/** HTTP/2 on connections that the listener has accepted. `close` lets requests under way finish. */
import type { Socket } from 'node:net'
import { drainTime, type Times } from '../connection-limits.ts'
import type { Http2Link, Http2Owner, HttpEngine } from '../engine.ts'
import type { Peer, ServerTransport } from '../server-transport.ts'

export class Http2Server {
  readonly #engine: Pick<HttpEngine, 'openHttp2'>
  readonly #owner: Http2Owner
  readonly #onRequest: (transport: ServerTransport) => void
  readonly #connections = new Map<Socket, Http2Link>()
  readonly #timer: NodeJS.Timeout
  #waiting: ServerTransport[] = []
  #isClosing = false

  constructor(engine: Pick<HttpEngine, 'openHttp2'>, times: Times, onRequest: (transport: ServerTransport) => void) {
    this.#engine = engine
    this.#onRequest = onRequest
    this.#owner = { times, onRequest: (transport) => this.#defer(transport) }
    this.#timer = setInterval(() => this.#check(), times.check)
    this.#timer.unref()
  }

  accept(socket: Socket, peer: Peer): void {
    const connection = this.#engine.openHttp2(socket, peer, this.#owner)
    this.#connections.set(socket, connection)
    socket.on('close', () => this.#connections.delete(socket))
    // It has been waited for: its first request may be on its way.
    if (this.#isClosing) setTimeout(() => connection.close(), drainTime).unref()
  }

  /** No further requests on this connection; those under way are answered. */
  end(socket: Socket): void {
    this.#connections.get(socket)?.close()
  }

  close(): void {
    this.#isClosing = true
    clearInterval(this.#timer)
    for (const connection of this.#connections.values()) connection.close()
  }

  /** Requests are begun when all that came with them has been read: many a one is taken back in the same packet. */
  #defer(transport: ServerTransport): void {
    if (this.#waiting.push(transport) === 1) setImmediate(() => this.#beginWaiting())
  }

  #beginWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const transport of waiting) if (!transport.gone) this.#onRequest(transport)
  }

  #check(): void {
    const now = performance.now()
    for (const connection of this.#connections.values()) connection.check(now)
  }
}

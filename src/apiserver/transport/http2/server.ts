/** Serves HTTP/2 on connections that the listener has accepted. `close` lets running requests finish. */
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
    socket.on('close', () => this.#forget(socket))
    // The client has just connected, so its first request may be in transit.
    if (this.#isClosing) setTimeout(() => connection.close(), drainTime).unref()
  }

  /** Accepts no further requests on this connection. Running requests are completed. */
  end(socket: Socket): void {
    this.#connections.get(socket)?.close()
  }

  close(): void {
    this.#isClosing = true
    for (const connection of this.#connections.values()) connection.close()
    this.#stopIfDone()
  }

  #forget(socket: Socket): void {
    this.#connections.delete(socket)
    this.#stopIfDone()
  }

  #stopIfDone(): void {
    if (this.#isClosing && this.#connections.size === 0) clearInterval(this.#timer)
  }

  /**
   * Starts requests only after all data that arrived with them has been read, because some are cancelled in the same
   * packet.
   */
  #defer(transport: ServerTransport): void {
    if (this.#waiting.push(transport) === 1) setImmediate(() => this.#beginWaiting())
  }

  #beginWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const transport of waiting) if (!transport.disconnected) this.#onRequest(transport)
  }

  #check(): void {
    const now = performance.now()
    for (const connection of this.#connections.values()) connection.check(now)
  }
}

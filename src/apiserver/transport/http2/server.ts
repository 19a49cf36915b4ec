/** Serves HTTP/2 on connections that the listener has accepted. `close` lets running requests finish. */
import type { Socket } from 'node:net'
import { drainTime, type Times } from '../connection-limits.ts'
import type { Http2Link, Http2Owner, HttpEngine } from '../engine.ts'
import type { Peer, ServerTransport } from '../server-transport.ts'

/** Maximum time in milliseconds for starting requests in one turn of the event loop. */
const maxStartMs = 5

export class Http2Server {
  readonly #engine: Pick<HttpEngine, 'openHttp2'>
  readonly #owner: Http2Owner
  readonly #onRequest: (transport: ServerTransport) => void
  readonly #connections = new Map<Socket, Http2Link>()
  readonly #timer: NodeJS.Timeout
  /** Requests that wait to be started, by connection. */
  readonly #waiting = new Map<Peer, ServerTransport[]>()
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
    // Give a client that has just connected time to send its first request.
    if (this.#isClosing) setTimeout(() => connection.close(), drainTime).unref()
  }

  /** Rejects new requests on the connection. Running requests are completed. */
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
   * Starts a request once all data that arrived with it has been read, because the client may have cancelled the
   * request in the same packet.
   */
  #defer(transport: ServerTransport): void {
    const { peer } = transport
    if (this.#waiting.size === 0) setImmediate(() => this.#beginWaiting())
    const queue = this.#waiting.get(peer)
    if (queue === undefined) this.#waiting.set(peer, [transport])
    else queue.push(transport)
  }

  /**
   * Starts one request of each connection in turn until the time limit is reached. The remaining requests start in
   * later turns of the event loop.
   */
  #beginWaiting(): void {
    const end = performance.now() + maxStartMs
    try {
      // A map also iterates over keys that are added during the iteration, so every queue is visited until it is empty.
      for (const [peer, queue] of this.#waiting) {
        this.#waiting.delete(peer)
        const transport = queue.shift()!
        if (queue.length > 0) this.#waiting.set(peer, queue)
        if (!transport.disconnected) this.#onRequest(transport)
        if (performance.now() > end) break
      }
    } finally {
      if (this.#waiting.size > 0) setImmediate(() => this.#beginWaiting())
    }
  }

  #check(): void {
    const now = performance.now()
    for (const connection of this.#connections.values()) connection.check(now)
  }
}

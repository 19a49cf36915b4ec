/**
 * HTTP/1.1 on connections that the listener has accepted.
 *
 * `close` ends connections as a client can follow: every answer says that it is the last one, and a connection without
 * a request is ended only when clients have been silent for a while, as one may be on its way that nobody would then
 * answer.
 */
import type { Socket } from 'node:net'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { drainTime, drainTurns, type Times } from '../connection-limits.ts'
import type { ConnectionOwner, Http1Link, HttpEngine } from '../engine.ts'
import type { Peer } from '../server-transport.ts'

export class Http1Server {
  readonly #engine: Pick<HttpEngine, 'openHttp1'>
  readonly #owner: ConnectionOwner
  readonly #connections = new Map<Socket, Http1Link>()
  readonly #looking: NodeJS.Timeout
  #closing = false
  /** How many connections and requests there have been. */
  #heard = 0

  constructor(engine: Pick<HttpEngine, 'openHttp1'>, times: Times, { onRequest, maySwitch }: ConnectionOwner) {
    this.#engine = engine
    this.#owner = {
      onRequest: (transport) => {
        this.#heard++
        onRequest(transport)
      },
      maySwitch,
    }
    this.#looking = setInterval(() => this.#checkAll(times), times.check).unref()
  }

  accept(socket: Socket, peer: Peer): void {
    this.#heard++
    const connection = this.#engine.openHttp1(socket, peer, this.#owner)
    this.#connections.set(socket, connection)
    socket.on('close', () => this.#forget(socket))
    if (this.#closing) this.#end(connection)
  }

  /** No further requests on this connection; one that is under way is answered. */
  end(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection !== undefined) this.#end(connection)
  }

  close(): void {
    this.#closing = true
    for (const connection of this.#connections.values()) this.#end(connection)
    this.#stopIfDone()
  }

  #checkAll(times: Times): void {
    const now = performance.now()
    for (const connection of this.#connections.values()) connection.check(now, times)
  }

  #forget(socket: Socket): void {
    this.#connections.delete(socket)
    this.#stopIfDone()
  }

  #stopIfDone(): void {
    if (this.#closing && this.#connections.size === 0) clearInterval(this.#looking)
  }

  #end(connection: Http1Link): void {
    connection.endSoon(() => void this.#endAfterSilence(connection))
  }

  /**
   * Ends a connection if no request comes on it for `drainTime`. The time passes in turns of the event loop, each of
   * which reads what has arrived: a process that had no processor for longer than the whole time has turns still to
   * come. While requests come on other connections of a server that stops, clients are not silent but slow.
   */
  async #endAfterSilence(connection: Http1Link): Promise<void> {
    const { requests, socket } = connection
    let heard = this.#heard
    for (let silent = 0; silent < drainTurns; silent++) {
      await pause(drainTime / drainTurns)
      await setImmediate()
      if (socket.destroyed || connection.requests !== requests) return
      if (this.#closing && heard !== this.#heard) silent = -1
      heard = this.#heard
    }
    connection.end()
  }
}

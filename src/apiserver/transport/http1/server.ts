/**
 * Serves HTTP/1.1 on connections that the listener has accepted.
 *
 * `close` closes connections gracefully. Every later response contains `Connection: close`. An idle connection is
 * closed only after its client has been silent for a while, so that a request in transit still gets a response.
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
  /** Number of connections and requests so far. A change shows that clients are still sending. */
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

  /** Closes the connection once its running request is complete. */
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
   * Closes an idle connection, unless a request arrives within `drainTime`. A minimum number of event-loop turns must
   * pass too, so that a process that has received no CPU time still reads all data that has arrived. The wait starts
   * over while requests arrive on other connections, because the machine may simply be slow.
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

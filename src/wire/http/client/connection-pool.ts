/**
 * A pool of connections to one destination. Each connection carries one call at a time. The number of open connections
 * is limited. If all of them are in use, additional calls wait. A connection that receives data while idle is closed.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Default idle timeout of a connection in milliseconds. */
const usualIdleMs = 60_000

/** A TLS or TCP connection, or another stream that is used as a connection. */
export type PooledSocket = Duplex & Partial<Pick<Socket, 'ref' | 'unref' | 'setTimeout'>>

/** Callbacks for the events of a connection. Each call sets its own callbacks. */
export interface ConnectionListener {
  onData(bytes: Buffer): void
  /** Called when the server has closed its side of the connection. */
  onEnd(): void
  onBroken(error: NodeJS.ErrnoException): void
}

/** A connection of a pool. It carries one call at a time. */
export class PooledConnection {
  readonly socket: PooledSocket
  /** Whether an earlier call has used the connection. */
  isReused = false
  listener: ConnectionListener | undefined
  /** Time on Node's monotonic clock after which the connection must not be reused. */
  idleUntil = Number.POSITIVE_INFINITY
  readonly #listeners = {
    data: (bytes: Buffer) => this.#tell((call) => call.onData(bytes)),
    end: () => this.#tell((call) => call.onEnd()),
    error: (error: Error) => this.#tell((call) => call.onBroken(error)),
    close: () => this.#tell((call) => call.onBroken(connectionClosed())),
    timeout: () => this.#closeIfIdle(),
  }

  constructor(socket: PooledSocket, idleMs: number) {
    this.socket = socket
    for (const [event, listener] of Object.entries(this.#listeners)) socket.on(event, listener)
    socket.setTimeout?.(idleMs)
  }

  /** Removes the listeners of the pool and transfers ownership of the connection to the caller. */
  detach(): PooledSocket {
    const { socket } = this
    for (const [event, listener] of Object.entries(this.#listeners)) socket.off(event, listener)
    socket.setTimeout?.(0)
    // Ignore errors that occur before the new owner has added its own listener. The owner will notice that the
    // connection is closed.
    socket.on('error', () => {})
    // Reset the stream's state, so that it buffers data until the new owner reads.
    ;(socket as { readableFlowing: boolean | null }).readableFlowing = null
    return socket
  }

  #tell(tell: (call: ConnectionListener) => void): void {
    if (this.listener === undefined) this.socket.destroy()
    else tell(this.listener)
  }

  /**
   * Closes the connection if it has been idle for too long. While a call uses the connection, its response may pause
   * for any length of time, because the call has its own timeout.
   */
  #closeIfIdle(): void {
    if (this.listener === undefined) this.socket.destroy()
  }
}

/** The state of a connection after a call, which determines whether the pool can reuse the connection. */
export interface CallEnding {
  /**
   * Whether the connection can carry another call. False if the call was incomplete or data is left on the connection.
   */
  readonly isReusable: boolean
  /** The keep-alive timeout in milliseconds that the server announced. */
  readonly maxIdleMs?: number | undefined
}

/** Options of a connection pool: a function that opens connections, and limits. */
export interface PoolOptions {
  /**
   * Opens a connection and verifies the server. Throws Node's error on failure. `onSocket` may be called before the
   * connection is established, so that the pool can close the socket.
   */
  readonly open: (onSocket: (socket: PooledSocket) => void) => Promise<PooledSocket>
  readonly maxConnections: number
  /** Maximum number of idle connections. Defaults to no limit. 0 disables the reuse of connections. */
  readonly maxIdle?: number
  /** Time in milliseconds after which an idle connection is closed. Defaults to one minute. 0 disables the timeout. */
  readonly idleMs?: number
  /**
   * Whether the pool finishes opening a connection even if the call that needed it has given up, so that a later call
   * can use the connection. Combine this option with `maxConnections` for a destination with many calls.
   */
  readonly keepsOpening?: boolean
}

/** Callbacks for a call that needs a connection. They report the progress of obtaining one. */
export interface Waiter {
  /** Called if all connections are in use, so that the call must wait. */
  onWait?(): void
  /** Called when the call is the next to receive a connection. */
  onTurn?(): void
  /** Called when the pool opens a connection for the call. The call can use `close` to give up. */
  onOpening?(close: () => void): void
}

/**
 * The pool stops reusing a connection this long before the server's keep-alive timeout, in milliseconds. Without this
 * margin, the server could close the connection while a request is in transit.
 */
const closingMarginMs = 1000

/** Opens, reuses and limits the connections to one destination. */
export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #idle: PooledConnection[] = []
  readonly #waiting: (() => void)[] = []
  readonly #connections = new Set<PooledConnection>()
  #opening = 0
  readonly #openingSockets = new Set<PooledSocket>()
  #isClosed = false
  #isDestroyed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Whether connections are reused for further calls. */
  get reusesConnections(): boolean {
    return this.#options.maxIdle !== 0
  }

  /**
   * Returns a connection for one call. Waits if all connections are in use. Throws Node's error if no connection can be
   * established. Before an idle connection is reused, the event loop polls the connection once more, to detect whether
   * the server has closed it.
   */
  async take(waiter: Waiter = {}): Promise<PooledConnection> {
    for (;;) {
      if (this.#isDestroyed) throw connectionClosed()
      const connection = this.#idle.pop()
      if (connection === undefined) {
        if (this.#connections.size + this.#opening < this.#options.maxConnections) {
          waiter.onTurn?.()
          return await this.#connect(waiter)
        }
        waiter.onWait?.()
        await new Promise<void>((resolve) => this.#waiting.push(resolve))
      } else if (await isOpen(connection)) {
        waiter.onTurn?.()
        connection.socket.ref?.()
        return connection
      }
    }
  }

  release(connection: PooledConnection, { isReusable, maxIdleMs = Number.POSITIVE_INFINITY }: CallEnding): void {
    connection.listener = undefined
    connection.isReused = true
    connection.idleUntil = performance.now() + maxIdleMs - closingMarginMs
    const { maxIdle = Number.POSITIVE_INFINITY } = this.#options
    const isKept = isReusable && !this.#isClosed && !connection.socket.destroyed && this.#idle.length < maxIdle
    if (!isKept) connection.socket.destroy()
    else {
      connection.socket.unref?.()
      this.#idle.push(connection)
      this.#waiting.shift()?.()
    }
  }

  /** Closes idle connections. Running calls continue, but their connections are not reused. */
  close(): void {
    this.#isClosed = true
    for (const { socket } of this.#idle.splice(0)) socket.destroy()
  }

  /** Closes all connections. Running and later calls fail. */
  destroy(): void {
    this.#isDestroyed = true
    this.close()
    for (const retry of this.#waiting.splice(0)) retry()
    for (const { socket } of this.#connections) socket.destroy()
    for (const socket of this.#openingSockets) socket.destroy()
  }

  async #connect(waiter: Waiter): Promise<PooledConnection> {
    const { open, idleMs = usualIdleMs, keepsOpening = false } = this.#options
    let opening: PooledSocket | undefined
    const onSocket = (socket: PooledSocket) => {
      opening = socket
      this.#openingSockets.add(socket)
      if (!keepsOpening) waiter.onOpening?.(() => socket.destroy())
    }
    this.#opening++
    try {
      const connection = new PooledConnection(await open(onSocket), idleMs)
      if (this.#isDestroyed) {
        connection.socket.destroy()
        throw connectionClosed()
      }
      this.#connections.add(connection)
      connection.socket.on('close', () => this.#forget(connection))
      return connection
    } catch (error) {
      this.#waiting.shift()?.()
      throw error
    } finally {
      this.#opening--
      if (opening !== undefined) this.#openingSockets.delete(opening)
    }
  }

  #forget(connection: PooledConnection): void {
    this.#connections.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#waiting.shift()?.()
  }
}

/** Returns the error for a call whose connection was closed. */
export function connectionClosed(): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' })
}

/**
 * Whether the server has left an idle connection open. Waits until Node.js has polled the socket again. This takes two
 * turns of the event loop, because the socket may already have been polled in the first turn.
 */
async function isOpen({ socket, idleUntil }: PooledConnection): Promise<boolean> {
  if (performance.now() >= idleUntil) socket.destroy()
  for (let turn = 0; turn < 2 && !socket.destroyed; turn++) await new Promise(setImmediate)
  return !socket.destroyed
}

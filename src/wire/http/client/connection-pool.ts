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

/** Handles the events of a connection for the call that currently uses the connection. */
export interface ConnectionListener {
  onData(bytes: Buffer): void
  /** Called when the server has closed its side of the connection. */
  onEnd(): void
  onBroken(error: NodeJS.ErrnoException): void
}

/** A connection of a pool together with the call that uses it. */
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
    // The new owner detects a failure when the connection closes, even if it adds its listeners later.
    socket.on('error', () => {})
    // Restores the state before the first listener was added, so that data is buffered until the new owner reads it.
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

/** The state of a connection when a call returns it to the pool. */
export interface CallEnding {
  /** Whether the call is complete and has left no unread data on the connection. */
  readonly isReusable: boolean
  /** The keep-alive timeout in milliseconds that the server announced. */
  readonly maxIdleMs?: number | undefined
}

/** How a pool opens connections, and the limits of the pool. */
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
   * Whether the pool finishes opening a connection after the call that needed the connection was abandoned, so that the
   * next call can use it. Useful only together with `maxConnections` for a destination with many calls. By default, the
   * connection is closed.
   */
  readonly keepsOpening?: boolean
}

/** A call that needs a connection. */
export interface Waiter {
  /** Called when all connections are in use, so that the call has to wait. */
  onWait?(): void
  /** Called when the call no longer has to wait for other calls. */
  onTurn?(): void
  /** Called when the pool starts opening a connection for the call. `close` closes the connection. */
  onOpening?(close: () => void): void
}

/**
 * How long before the server's keep-alive timeout a connection is no longer reused, in milliseconds. Without this
 * margin, the server could close the connection while a request is on its way.
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

  /** Whether a connection can carry more than one call. */
  get reusesConnections(): boolean {
    return this.#options.maxIdle !== 0
  }

  /**
   * Returns a connection for one call. Waits if all connections are in use. Throws Node's error if no connection can be
   * established. An idle connection is returned only after another poll of the event loop, which shows whether the
   * server has closed the connection.
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

  /** Closes all connections. Running calls fail, and so do later calls. */
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

/** Returns the error for a connection that the server has closed. */
export function connectionClosed(): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' })
}

/**
 * Whether an idle connection is still open. Waits until Node.js has polled all connections again, which takes two turns
 * of the event loop if the current turn is in the middle of a poll.
 */
async function isOpen({ socket, idleUntil }: PooledConnection): Promise<boolean> {
  if (performance.now() >= idleUntil) socket.destroy()
  for (let turn = 0; turn < 2 && !socket.destroyed; turn++) await new Promise(setImmediate)
  return !socket.destroyed
}

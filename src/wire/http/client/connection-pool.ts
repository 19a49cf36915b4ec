/**
 * A pool of connections to one destination. Each connection carries one call at a time. The number of open connections
 * is limited. If all are in use, further calls wait. A connection that receives data while it is idle is closed.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Default idle timeout of a connection in milliseconds. */
const usualIdleMs = 60_000

/** A TLS or TCP connection, or a stream that acts as one. */
export type PooledSocket = Duplex & Partial<Pick<Socket, 'ref' | 'unref' | 'setTimeout'>>

/** Receives the events of a connection for the call that uses it. */
export interface ConnectionListener {
  onData(bytes: Buffer): void
  /** Called when the other side has closed its direction of the connection. */
  onEnd(): void
  onBroken(error: NodeJS.ErrnoException): void
}

/** A connection and the call that uses it. */
export class PooledConnection {
  readonly socket: PooledSocket
  /** Whether an earlier call used the connection. */
  isReused = false
  listener: ConnectionListener | undefined
  /** The time on Node's monotonic clock after which the connection must not be reused. */
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

  /** Detaches the pool's listeners, so that the caller owns the connection. */
  detach(): PooledSocket {
    const { socket } = this
    for (const [event, listener] of Object.entries(this.#listeners)) socket.off(event, listener)
    socket.setTimeout?.(0)
    // The new owner notices a failure when the connection closes, even if it adds its listeners later.
    socket.on('error', () => {})
    // This restores the state before the first listener was added, so that data waits for the new owner.
    ;(socket as { readableFlowing: boolean | null }).readableFlowing = null
    return socket
  }

  #tell(tell: (call: ConnectionListener) => void): void {
    if (this.listener === undefined) this.socket.destroy()
    else tell(this.listener)
  }

  /**
   * Closes the connection after an idle timeout if no call uses it. A response may pause for any length of time,
   * because the call has its own timeout.
   */
  #closeIfIdle(): void {
    if (this.listener === undefined) this.socket.destroy()
  }
}

/** The state in which a call returns its connection to the pool. */
export interface CallEnding {
  /** Whether the call is complete and left no unread data. */
  readonly isReusable: boolean
  /** The keep-alive timeout in milliseconds that the server announced. */
  readonly maxIdleMs?: number | undefined
}

/** How a pool opens connections, and its limits. */
export interface PoolOptions {
  /**
   * Opens a connection and verifies the server. Throws Node's error if that fails. May call `onSocket` while the
   * connection is still opening, so that the pool can close it.
   */
  readonly open: (onSocket: (socket: PooledSocket) => void) => Promise<PooledSocket>
  readonly maxConnections: number
  /** Maximum number of idle connections. Defaults to no limit. 0 disables reuse. */
  readonly maxIdle?: number
  /** Time in milliseconds after which an idle connection is closed. Defaults to a minute. 0 means never. */
  readonly idleMs?: number
  /**
   * Whether the pool continues to open a connection after its call was abandoned, so that the next call can use the
   * connection. Useful only for a destination with many calls and with `maxConnections`. By default, the connection is
   * closed.
   */
  readonly keepsOpening?: boolean
}

/** A call that needs a connection. */
export interface Waiter {
  /** Called when all connections are in use, so that the call must wait. */
  onWait?(): void
  /** Called when the call no longer waits for other calls. */
  onTurn?(): void
  /** Called when a connection is being opened for the call. `close` closes it. */
  onOpening?(close: () => void): void
}

/**
 * How long before the server's keep-alive timeout, in milliseconds, a connection is no longer reused, because a call
 * takes time to arrive.
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

  /** Whether a connection may be used for several calls. */
  get reusesConnections(): boolean {
    return this.#options.maxIdle !== 0
  }

  /**
   * Returns a connection for one call. Waits if all connections are in use. Throws Node's error if no connection can be
   * established. An idle connection is returned only after another poll of the event loop, which detects whether the
   * other side has closed it.
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

  /** Closes all connections. Running calls and later calls fail. */
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

/** Returns the error for a connection that the other side has closed. */
export function connectionClosed(): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' })
}

/**
 * Whether a connection can be reused. Waits until Node.js has polled all connections again, which takes two turns of
 * the event loop if the current turn is in the middle of a poll.
 */
async function isOpen({ socket, idleUntil }: PooledConnection): Promise<boolean> {
  if (performance.now() >= idleUntil) socket.destroy()
  for (let turn = 0; turn < 2 && !socket.destroyed; turn++) await new Promise(setImmediate)
  return !socket.destroyed
}

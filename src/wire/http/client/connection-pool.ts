/**
 * A pool of connections to one destination. Each connection carries one call at a time. The number of open connections
 * is limited, and further calls wait. A connection that receives anything while idle is closed.
 */
import type { Agent } from 'node:https'
import type { ConnectionOptions, TLSSocket } from 'node:tls'

/** Idle timeout of a connection, and also the connect timeout. */
const idleMs = 60_000

/** Receives the events of a connection on behalf of a call. */
export interface ConnectionListener {
  onData(bytes: Buffer): void
  /** The other side has closed its direction of the connection. */
  onEnd(): void
  onBroken(error: NodeJS.ErrnoException): void
}

/** A connection and the call that uses it. */
export class PooledConnection {
  readonly socket: TLSSocket
  /** Whether an earlier call has used the connection. */
  isReused = false
  listener: ConnectionListener | undefined
  /** Time after which the connection must not be reused, on Node's monotonic clock. */
  idleUntil = Number.POSITIVE_INFINITY

  constructor(socket: TLSSocket) {
    this.socket = socket
    socket.setTimeout(idleMs, () => socket.destroy())
    socket.on('data', (bytes: Buffer) => this.#tell((call) => call.onData(bytes)))
    socket.on('end', () => this.#tell((call) => call.onEnd()))
    socket.on('error', (error) => this.#tell((call) => call.onBroken(error)))
    socket.on('close', () => this.#tell((call) => call.onBroken(Object.assign(new Error(), { code: 'ECONNRESET' }))))
  }

  #tell(tell: (call: ConnectionListener) => void): void {
    if (this.listener === undefined) this.socket.destroy()
    else tell(this.listener)
  }
}

/** The state in which a call leaves its connection. */
export interface CallEnding {
  /** Whether the call is complete and left no unread data. */
  readonly isReusable: boolean
  /** The keep-alive timeout that the server announced. */
  readonly maxIdleMs?: number | undefined
}

/** A connection is not reused this long before the server's keep-alive timeout, because a call takes time to arrive. */
const closingMarginMs = 1000

/** Opens, reuses and limits the connections to one destination. */
export class ConnectionPool {
  readonly #agent: Agent
  readonly #options: ConnectionOptions
  readonly #idle: PooledConnection[] = []
  readonly #waiting: (() => void)[] = []
  #open = 0
  #isClosed = false

  /** The agent defines TLS settings and creates the sockets, but does not pool them. */
  constructor(agent: Agent, options: ConnectionOptions) {
    this.#agent = agent
    const protocol = { ALPNProtocols: ['http/1.1'], noDelay: true, timeout: idleMs }
    this.#options = { ...agent.options, ...options, ...protocol } as ConnectionOptions
  }

  /**
   * Returns a connection for one call, waiting if all are in use. Throws Node's error if no connection can be
   * established. An idle connection is returned only after another poll of the event loop, which detects whether the
   * other side has closed it. `onWait` is called if all connections are in use.
   */
  async take(onWait: () => void = () => {}): Promise<PooledConnection> {
    for (;;) {
      const connection = this.#idle.pop()
      if (connection === undefined) {
        if (this.#open < this.#agent.maxSockets) return await this.#connect()
        onWait()
        await new Promise<void>((resolve) => this.#waiting.push(resolve))
      } else if (await isOpen(connection)) {
        connection.socket.ref()
        return connection
      }
    }
  }

  release(connection: PooledConnection, { isReusable, maxIdleMs = Number.POSITIVE_INFINITY }: CallEnding): void {
    connection.listener = undefined
    connection.isReused = true
    connection.idleUntil = performance.now() + maxIdleMs - closingMarginMs
    if (!isReusable || this.#isClosed || connection.socket.destroyed) connection.socket.destroy()
    else {
      connection.socket.unref()
      this.#idle.push(connection)
      this.#waiting.shift()?.()
    }
  }

  /** Running calls continue, but their connections are not reused. */
  close(): void {
    this.#isClosed = true
    for (const { socket } of this.#idle.splice(0)) socket.destroy()
  }

  async #connect(): Promise<PooledConnection> {
    this.#open++
    try {
      const connection = new PooledConnection(await this.#makeSocket())
      connection.socket.on('close', () => this.#forget(connection))
      return connection
    } catch (error) {
      this.#forget()
      throw error
    }
  }

  #forget(connection?: PooledConnection): void {
    this.#open--
    const at = connection === undefined ? -1 : this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#waiting.shift()?.()
  }

  /**
   * Opens a connection, with its certificate verified before anything is sent. Continues if the call is abandoned,
   * because the next call can use the connection.
   */
  #makeSocket(): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      // The callback is used only if the agent returns no socket.
      const made = this.#agent.createConnection(this.#options, (error, socket) => {
        if (error) reject(error)
        else resolve(socket as TLSSocket)
      }) as TLSSocket | undefined
      made?.once('error', reject)
      made?.once('timeout', () =>
        made.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
      )
      made?.once('secureConnect', () => {
        made.off('error', reject)
        resolve(made)
      })
    })
  }
}

/**
 * Whether a connection can be reused. Waits until Node has polled all connections again. This takes two turns if the
 * first one starts in the middle of a poll.
 */
async function isOpen({ socket, idleUntil }: PooledConnection): Promise<boolean> {
  if (performance.now() >= idleUntil) socket.destroy()
  for (let turn = 0; turn < 2 && !socket.destroyed; turn++) await new Promise(setImmediate)
  return !socket.destroyed
}

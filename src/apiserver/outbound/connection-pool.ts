/**
 * Connections to one destination that are used for one call after the other. At most so many are open at once; further
 * calls wait their turn. A connection on which anything happens while no call uses it is not used again.
 */
import type { Agent } from 'node:https'
import type { ConnectionOptions, TLSSocket } from 'node:tls'

/** A connection is closed when it was idle for this long, and given up when it takes this long to make. */
const idleMs = 60_000

/** What a call is told of its connection. */
export interface ConnectionListener {
  onData(bytes: Buffer): void
  /** The other side has said all that it will. */
  onEnd(): void
  onBroken(error: NodeJS.ErrnoException): void
}

/** A connection, and the call that uses it. */
export class PooledConnection {
  readonly socket: TLSSocket
  /** Whether a call has used it before. */
  isReused = false
  listener: ConnectionListener | undefined
  /** When it is too old to be used again, on the monotonic clock of Node. */
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

/** How a call has left its connection. */
export interface CallEnding {
  /** Whether the call is over and has left nothing behind. */
  readonly isReusable: boolean
  /** How long the other side says that it keeps the connection open without a call. */
  readonly maxIdleMs?: number | undefined
}

/** How long before the other side closes an idle connection it is no longer used: a call needs a while to arrive. */
const closingMarginMs = 1000

export class ConnectionPool {
  readonly #agent: Agent
  readonly #options: ConnectionOptions
  readonly #idle: PooledConnection[] = []
  readonly #waiting: (() => void)[] = []
  #open = 0
  #isClosed = false

  /** The agent says how a connection is made and whom it trusts; it makes them, and keeps none. */
  constructor(agent: Agent, options: ConnectionOptions) {
    this.#agent = agent
    const protocol = { ALPNProtocols: ['http/1.1'], noDelay: true, timeout: idleMs }
    this.#options = { ...agent.options, ...options, ...protocol } as ConnectionOptions
  }

  /**
   * A connection for one call, when there is one free. Throws the error of Node where none can be made. An idle connection
   * is given out after Node has polled once more: if the other side has closed the connection, that is known by then.
   * `onWait` is called if all connections are in use.
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

  /** What is under way goes on, and its connection is not used again. */
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

  /** Verified before anything is sent. Goes on when the call has been given up: the next one may use it. */
  #makeSocket(): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      // Called only where the agent returns nothing.
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
 * Whether a connection can be used again. Waits until Node has polled all connections once more, which takes two turns if
 * the first one begins in the middle of a poll.
 */
async function isOpen({ socket, idleUntil }: PooledConnection): Promise<boolean> {
  if (performance.now() >= idleUntil) socket.destroy()
  for (let turn = 0; turn < 2 && !socket.destroyed; turn++) await new Promise(setImmediate)
  return !socket.destroyed
}

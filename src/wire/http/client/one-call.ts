/**
 * One request and its response on one connection. Ends with the response, a timeout or an abort. Either way, the
 * connection returns to its pool. It is reused only if the response was complete and nothing followed it.
 */
import type { AnswerRoom } from './answer-memory.ts'
import { AnswerReader } from './answer-reader.ts'
import { CallError, callErrorOf } from './call-error.ts'
import type { CallEnding, ConnectionListener, ConnectionPool, PooledConnection } from './connection-pool.ts'

export interface CallParts {
  readonly pool: ConnectionPool
  readonly serverName: string
  readonly head: string
  readonly body: string | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Maximum size of the response body. */
  readonly maxBytes: number
  /** The memory that the response may take. */
  readonly room: AnswerRoom
}

/** Throws CallError unless the response is successful. */
export function runCall(parts: CallParts): Promise<AnswerReader> {
  return new Promise((resolve, reject) => new OneCall(parts, { resolve, reject }).start())
}

interface Outcome {
  resolve(answer: AnswerReader): void
  reject(error: unknown): void
}

class OneCall implements ConnectionListener {
  readonly #parts: CallParts
  readonly #outcome: Outcome
  readonly #reader: AnswerReader
  readonly #timer: NodeJS.Timeout
  readonly #onAbort = () => this.#fail(new CallError('aborted', 'the request was abandoned'))
  #connection: PooledConnection | undefined
  #received = 0
  /** Whether the call had to wait for a free connection. */
  #waitedForConnection = false
  /** Whether this server stopped reading the response for lack of memory. */
  #wasPaused = false
  #isOver = false

  constructor(parts: CallParts, outcome: Outcome) {
    this.#parts = parts
    this.#outcome = outcome
    this.#reader = new AnswerReader(parts.maxBytes)
    const { timeoutMs } = parts
    const late = () =>
      this.#fail(
        new CallError('timeout', `context deadline exceeded: no complete answer within ${Math.ceil(timeoutMs)} ms`),
      )
    this.#timer = setTimeout(late, timeoutMs)
    parts.signal?.addEventListener('abort', this.#onAbort)
  }

  start(): void {
    const onWait = () => {
      this.#waitedForConnection = true
    }
    this.#parts.pool.take(onWait).then(
      (connection) => this.#begin(connection),
      (error) => this.#fail(this.#callError(error)),
    )
  }

  onData(bytes: Buffer): void {
    this.#received += bytes.length
    if (this.#parts.room.mayGrow()) this.#read(bytes)
    else this.#readLater(bytes)
  }

  #read(bytes: Buffer): void {
    try {
      const isComplete = this.#reader.push(bytes)
      this.#parts.room.resize(this.#reader.keptBytes)
      if (isComplete) this.#succeed()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Pauses reading from the connection until there is room. */
  #readLater(bytes: Buffer): void {
    const socket = this.#connection?.socket.pause()
    this.#wasPaused = true
    this.#parts.room.wait(() => {
      this.#read(bytes)
      socket?.resume()
    })
  }

  onEnd(): void {
    if (this.#reader.end()) this.#succeed()
  }

  onBroken(error: NodeJS.ErrnoException): void {
    if (this.#received === 0) this.#fail(this.#callError(error))
    else this.#fail(new CallError('cut', 'the connection was cut during the answer'))
  }

  #begin(connection: PooledConnection): void {
    const { pool, head, body } = this.#parts
    if (this.#isOver) {
      pool.release(connection, { isReusable: true })
      return
    }
    this.#connection = connection
    connection.listener = this
    // Sends both in one packet.
    const { socket } = connection
    socket.cork()
    socket.write(head, 'latin1')
    if (body !== undefined) socket.write(body)
    socket.uncork()
  }

  #succeed(): void {
    const { keepsConnection: isReusable, maxIdleMs } = this.#reader
    if (this.#end({ isReusable, maxIdleMs })) this.#outcome.resolve(this.#reader)
  }

  #fail(error: unknown): void {
    if (this.#end({ isReusable: false })) this.#outcome.reject(this.#isOwnLimit(error) ? ownLimit() : error)
  }

  /**
   * Whether a limit of this server caused the failure: the call timed out after waiting for a connection or memory, or
   * the response was cut while reading was paused.
   */
  #isOwnLimit(error: unknown): boolean {
    if (!(error instanceof CallError)) return false
    if (error.fault === 'timeout') return this.#waitedForConnection || this.#wasPaused
    return error.fault === 'cut' && this.#wasPaused
  }

  /** Returns whether the call was still running. */
  #end(ending: CallEnding): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#timer)
    const { pool, signal, room } = this.#parts
    signal?.removeEventListener('abort', this.#onAbort)
    room.end()
    if (this.#connection !== undefined) pool.release(this.#connection, ending)
    return true
  }

  /**
   * The server may have processed a call before it closed the connection, so only a GET may be repeated. A POST learns
   * before it is written whether its connection is closed (`ConnectionPool.take`).
   */
  #callError(error: NodeJS.ErrnoException): CallError {
    const { serverName, body } = this.#parts
    const isReused = this.#connection?.isReused ?? false
    const broken = callErrorOf(error, { serverName, isRepeatable: isReused && body === undefined })
    const wasSent = this.#connection !== undefined
    return wasSent && broken.fault === 'connection' ? new CallError('cut', broken.message, broken.remedy) : broken
  }
}

function ownLimit(): CallError {
  return new CallError('limit', 'the server has too many calls or large answers to read at the same time')
}

/**
 * One request and its answer on one connection: within its time, and while somebody waits for it. However it ends, the
 * connection goes back to its pool, to be used again only if the answer was complete and nothing followed it.
 */
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
  /** The most that an answer may have. */
  readonly maxBytes: number
  /** Called with how much more is held in memory, or less. Throws CallError where that is too much in all. */
  readonly hold: (bytes: number) => void
}

/** Throws CallError where there is no answer of success. */
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
    this.#parts.pool.take().then(
      (connection) => this.#begin(connection),
      (error) => this.#fail(this.#callError(error)),
    )
  }

  onData(bytes: Buffer): void {
    this.#received += bytes.length
    try {
      this.#parts.hold(bytes.length)
      if (this.#reader.push(bytes)) this.#succeed()
    } catch (error) {
      this.#fail(error)
    }
  }

  onEnd(): void {
    if (this.#reader.end()) this.#succeed()
  }

  onBroken(error: NodeJS.ErrnoException): void {
    if (this.#received === 0) this.#fail(this.#callError(error))
    else this.#fail(new CallError('connection', 'the connection was cut during the answer'))
  }

  #begin(connection: PooledConnection): void {
    const { pool, head, body } = this.#parts
    if (this.#isOver) {
      pool.release(connection, { isReusable: true })
      return
    }
    this.#connection = connection
    connection.listener = this
    // Both in one packet.
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
    if (this.#end({ isReusable: false })) this.#outcome.reject(error)
  }

  /** Whether it was not over yet. */
  #end(ending: CallEnding): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#timer)
    const { pool, signal, hold } = this.#parts
    signal?.removeEventListener('abort', this.#onAbort)
    hold(-this.#received)
    if (this.#connection !== undefined) pool.release(this.#connection, ending)
    return true
  }

  /**
   * A call that was written may have been read, and acted on, by the other side before it closed the connection. So only a
   * GET may be repeated. A POST finds out before it is written whether its connection is closed (`ConnectionPool.take`).
   */
  #callError(error: NodeJS.ErrnoException): CallError {
    const { serverName, body } = this.#parts
    const isReused = this.#connection?.isReused ?? false
    return callErrorOf(error, { serverName, isRepeatable: isReused && body === undefined })
  }
}

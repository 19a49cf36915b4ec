/**
 * An HTTP/1.1 call: a request and its response on one connection of a pool. All HTTP/1.1 requests of this program are
 * sent as such calls. A call ends with the response, a timeout or an abort, and then returns its connection to the
 * pool. The connection is reused only if request and response were complete and no data followed the response.
 */
import { type AnswerHead, AnswerParser, type AnswerRules, type AnswerSink } from './answer-parser.ts'
import { CallError, callErrorOf } from './call-error.ts'
import {
  type CallEnding,
  type ConnectionListener,
  type ConnectionPool,
  connectionClosed,
  type PooledConnection,
  type PooledSocket,
  type Waiter,
} from './connection-pool.ts'
import { type StreamedBody, sendBody } from './request-body.ts'

/** A request, and the connection pool through which it is sent. */
export interface CallParts {
  readonly pool: ConnectionPool
  /** The name of the server, for error messages about certificates. */
  readonly serverName: string
  readonly method: string
  /** The complete head of the request, as returned by `requestHead`. */
  readonly head: string
  readonly body: string | Uint8Array | StreamedBody | undefined
  /** Timeout of the call in milliseconds. Includes the wait for a connection unless `waitMs` is set. */
  readonly timeoutMs: number
  /** Maximum time in milliseconds to wait for a free connection. If set, `timeoutMs` begins when the wait ends. */
  readonly waitMs?: number | undefined
  readonly signal: AbortSignal | undefined
  readonly rules?: Omit<AnswerRules, 'isHead'>
}

/** A connection that has switched from HTTP to another protocol. The receiver owns the connection. */
export interface SwitchedConnection {
  readonly socket: PooledSocket
  /** Data that arrived after the head of the response. */
  readonly rest: Buffer
}

/** Receives the response of a call. */
export interface AnswerReceiver extends AnswerSink {
  /** The part of the response that must arrive before the timeout: only the `head`, or the `whole` response. */
  readonly timeLimit: 'head' | 'whole'
  /** Whether the receiver can accept more data. If not, the call stops reading until it can. */
  mayRead(): boolean
  wait(onRoom: () => void): void
  /** Called after each chunk of received data, with the number of bytes that have not been parsed yet. */
  onParsed?(unreadBytes: number): void
  onComplete(): void
  /**
   * Called instead of `onHead` and `onComplete` if the connection changes its protocol. Required if `rules.switchesAt`
   * is set.
   */
  onSwitched?(head: AnswerHead, connection: SwitchedConnection): void
  onFailure(error: unknown): void
}

/** Sends one request and receives its response. */
export class HttpCall implements ConnectionListener, Waiter {
  readonly #parts: CallParts
  readonly #receiver: AnswerReceiver
  readonly #parser: AnswerParser
  readonly #onAbort = () => this.#fail(new CallError('aborted', 'the request was abandoned'))
  #timer: NodeJS.Timeout | undefined
  #connection: PooledConnection | undefined
  #stopOpening: (() => void) | undefined
  #stopSending: (() => void) | undefined
  /** Whether the request has been sent completely. */
  #isSent = false
  #isAnswered = false
  /** The head of a 101 response, which switches the protocol. Undefined for all other responses. */
  #switchHead: AnswerHead | undefined
  #received = 0
  /** Whether the call had to wait for a free connection. */
  #waitedForConnection = false
  /** Whether the call paused reading because there was not enough memory for the response. */
  #wasPaused = false
  #isOver = false

  constructor(parts: CallParts, receiver: AnswerReceiver) {
    this.#parts = parts
    this.#receiver = receiver
    this.#parser = new AnswerParser(this, { ...parts.rules, isHead: parts.method === 'HEAD' })
    parts.signal?.addEventListener('abort', this.#onAbort)
  }

  start(): void {
    const { pool, signal, timeoutMs, waitMs = timeoutMs } = this.#parts
    if (signal?.aborted) {
      this.#onAbort()
      return
    }
    this.#startTimer(waitMs)
    pool.take(this).then(
      (connection) => this.#begin(connection),
      (error) => this.#fail(this.#callError(error)),
    )
  }

  /** Ends the call silently, because the rest of the response is not needed. */
  abandon(): void {
    if (!this.#isAnswered) this.#end({ isReusable: false })
  }

  onWait(): void {
    this.#waitedForConnection = true
  }

  onTurn(): void {
    if (this.#parts.waitMs === undefined) return
    this.#waitedForConnection = false
    this.#startTimer(this.#parts.timeoutMs)
  }

  onOpening(close: () => void): void {
    this.#stopOpening = close
    if (this.#isOver) close()
  }

  onHead(head: AnswerHead): void {
    if (this.#receiver.timeLimit === 'head') clearTimeout(this.#timer)
    if (this.#parser.hasSwitched) this.#switchHead = head
    else this.#receiver.onHead(head)
  }

  onBody(bytes: Buffer): void {
    this.#receiver.onBody(bytes)
  }

  onData(bytes: Buffer): void {
    this.#received += bytes.length
    if (this.#receiver.mayRead()) this.#read(bytes)
    else this.#readLater(bytes)
  }

  onEnd(): void {
    if (this.#parser.end()) this.#complete()
    // The server has closed only its side, so the socket may still be open for writing.
    else this.onBroken(connectionClosed())
  }

  onBroken(error: NodeJS.ErrnoException): void {
    if (this.#received === 0) this.#fail(this.#callError(error))
    else this.#fail(new CallError('cut', 'the connection was closed during the response', { cause: error }))
  }

  #read(bytes: Buffer): void {
    try {
      // Data after the end of the response makes the connection unusable.
      if (this.#isAnswered) throw new CallError('answer', 'the response is not valid HTTP/1.1')
      const isComplete = this.#parser.push(bytes)
      if (this.#isOver) return
      this.#receiver.onParsed?.(this.#parser.unread.length)
      if (isComplete) this.#complete()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Stops reading from the connection until there is room for more data. */
  #readLater(bytes: Buffer): void {
    const socket = this.#connection?.socket.pause()
    this.#wasPaused = true
    this.#receiver.wait(() => {
      this.#read(bytes)
      socket?.resume()
    })
  }

  #begin(connection: PooledConnection): void {
    if (this.#isOver) {
      this.#parts.pool.release(connection, { isReusable: true })
      return
    }
    this.#stopOpening = undefined
    this.#connection = connection
    connection.listener = this
    this.#send(connection.socket)
  }

  #send(socket: PooledSocket): void {
    const { head, body } = this.#parts
    if (typeof body === 'object' && 'stream' in body) {
      socket.write(head, 'latin1')
      const onBreak = () => this.#fail(new CallError('aborted', 'the body is incomplete'))
      this.#stopSending = sendBody(socket, body, { onSent: () => this.#onSent(), onBreak })
      return
    }
    this.#isSent = true
    // Sends the head and the body of the request in one packet.
    socket.cork()
    socket.write(head, 'latin1')
    if (body !== undefined) socket.write(body)
    socket.uncork()
  }

  #onSent(): void {
    this.#isSent = true
    if (this.#isAnswered) this.#release()
  }

  /**
   * Called when the response is complete. If parts of the request are still unsent, sends them before the connection is
   * reused.
   */
  #complete(): void {
    this.#isAnswered = true
    if (this.#switchHead !== undefined) this.#handOver(this.#switchHead)
    else {
      if (this.#isSent) this.#release()
      this.#receiver.onComplete()
    }
  }

  #release(): void {
    const { keepsConnection: isReusable, maxIdleMs } = this.#parser
    this.#end({ isReusable, maxIdleMs })
  }

  #handOver(head: AnswerHead): void {
    const connection = this.#connection!
    const rest = this.#parser.unread
    this.#connection = undefined
    this.#end({ isReusable: false })
    this.#receiver.onSwitched?.(head, { socket: connection.detach(), rest })
  }

  #fail(error: unknown): void {
    const isAnswered = this.#isAnswered
    if (this.#end({ isReusable: false }) && !isAnswered)
      this.#receiver.onFailure(this.#isOwnLimit(error) ? ownLimit() : error)
  }

  /**
   * Whether a failure was caused by a limit of this server: the call had to wait for a connection or for memory, and
   * then timed out or was cut off.
   */
  #isOwnLimit(error: unknown): boolean {
    if (!(error instanceof CallError)) return false
    if (error.fault === 'timeout') return this.#waitedForConnection || this.#wasPaused
    return error.fault === 'cut' && this.#wasPaused
  }

  /** Ends the call. Returns false if it had already ended. */
  #end(ending: CallEnding): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#timer)
    const { pool, signal } = this.#parts
    signal?.removeEventListener('abort', this.#onAbort)
    if (this.#connection !== undefined) pool.release(this.#connection, ending)
    this.#stopOpening?.()
    this.#stopSending?.()
    return true
  }

  #startTimer(ms: number): void {
    clearTimeout(this.#timer)
    if (!Number.isFinite(ms) || this.#isOver) return
    const what = this.#receiver.timeLimit === 'head' ? 'no response' : 'context deadline exceeded: no complete response'
    const late = () => this.#fail(new CallError('timeout', `${what} within ${Math.ceil(ms)} ms`))
    this.#timer = setTimeout(late, ms)
  }

  /**
   * Converts a connection error to a CallError. A server may process a request and then close the connection, so only a
   * read may be repeated. For a write, `ConnectionPool.take` checks before sending that the connection is still open.
   */
  #callError(error: NodeJS.ErrnoException): CallError {
    const { serverName, body, method } = this.#parts
    const isRead = body === undefined && (method === 'GET' || method === 'HEAD')
    const isReused = this.#connection?.isReused ?? false
    const broken = callErrorOf(error, { serverName, isRepeatable: isReused && isRead })
    const { fault, message, remedy, cause } = broken
    return this.#connection !== undefined && fault === 'connection'
      ? new CallError('cut', message, { remedy, cause })
      : broken
  }
}

function ownLimit(): CallError {
  return new CallError('limit', 'the server is processing too many calls or large responses')
}

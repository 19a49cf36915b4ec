/** The exchange over HTTP/1.1. A class, as one is made per request and its methods are then shared. */
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { drained, passed } from '../../../wire/http/streams.ts'
import type { Peer, ResponseHeaders, ServerTransport, UpgradeRequest } from '../server-transport.ts'
import { answerHead } from './answer-head.ts'
import type { IncomingBody } from './body.ts'
import type { RequestHead } from './head.ts'
import { corkInStage } from './stages.ts'

/** How the end of an answer that comes in parts is told. */
type Framing = 'chunks' | 'length' | 'end of the connection' | 'no body'

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'
const nothing = Buffer.alloc(0)
const lineEnd = '\r\n'
const lastChunk = '0\r\n\r\n'

/** The connection on which an answer is sent. */
export interface AnswerConnection {
  readonly socket: Socket
  readonly peer: Peer
  /** To be called when the whole answer has been handed over, and again when it is on its way, if that is later. */
  answered(transport: Http1Transport): void
}

export class Http1Transport implements ServerTransport {
  readonly method: string
  readonly target: string
  rawHeaders: readonly string[]
  readonly upgrade: UpgradeRequest | undefined
  readonly #connection: AnswerConnection
  readonly #body: IncomingBody | undefined
  readonly #isOld: boolean
  /** Whether the connection ends with its answer. */
  isLast: boolean
  #framing: Framing | undefined
  /** Whether the client waits to be told that it may send its body. */
  #isAwaited: boolean
  #isEnded = false
  #isFlushed = false
  #hasLeft = false
  #gone: AbortController | undefined

  constructor(
    connection: AnswerConnection,
    { method, target, rawHeaders, isOld, isAsking }: RequestHead,
    { body, upgrade, isLast }: RequestParts,
  ) {
    this.method = method
    this.target = target
    this.rawHeaders = rawHeaders
    this.upgrade = upgrade
    this.isLast = isLast
    this.#connection = connection
    this.#body = body
    this.#isOld = isOld
    this.#isAwaited = isAsking
  }

  get peer(): Peer {
    return this.#connection.peer
  }

  get hasBody(): boolean {
    return this.#body !== undefined
  }

  get body(): Readable {
    return this.#body?.stream ?? Readable.from([])
  }

  get bodyAtHand(): Buffer | undefined {
    return this.#body === undefined ? nothing : this.#body.atHand
  }

  get bodyWhole(): boolean {
    return this.#body?.isWhole ?? true
  }

  get gone(): boolean {
    return this.#hasLeft && !this.#isFlushed
  }

  get signal(): AbortSignal {
    this.#gone ??= new AbortController()
    if (this.gone) this.#gone.abort()
    return this.#gone.signal
  }

  /** Whether the head of an answer has been sent, so that it is known to the client whether others will follow. */
  get isBegun(): boolean {
    return this.#framing !== undefined || this.#isEnded
  }

  /** Whether the whole answer has been handed over. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Whether the whole answer is on its way. */
  get isFlushed(): boolean {
    return this.#isFlushed
  }

  /** Tells a client that asked whether it may send its body that it may. */
  invite(): void {
    const { socket } = this.#connection
    if (!this.#isAwaited || this.isBegun) return
    this.#isAwaited = false
    if (socket.writable) socket.write(goOn)
  }

  /** Drops the headers: for a request that is answered but whose client may take long to send the rest of its body. */
  forgetHeaders(): void {
    this.rawHeaders = []
  }

  /** To be called when the client is gone. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    if (this.gone) this.#gone?.abort()
  }

  send(status: number, headers: ResponseHeaders, body: Buffer): void {
    const { socket } = this.#connection
    if (this.#hasLeft || !socket.writable) return
    const text = answerHead(status, headers, this.#lines())
    this.#isEnded = true
    corkInStage(socket)
    if (this.#isBodiless(status)) {
      this.#isFlushed = true
      socket.write(text, 'latin1')
    } else {
      // One that is short is on its way when it is written: to hear of that would cost more than it says.
      this.#isFlushed = body.length < longAnswer
      socket.write(text, 'latin1')
      if (this.#isFlushed) socket.write(body)
      else socket.write(body, this.#onFlushed)
    }
    this.#connection.answered(this)
  }

  async taken(): Promise<void> {
    const { socket } = this.#connection
    if (!this.#isFlushed && socket.writableNeedDrain && !socket.destroyed) await drained(socket)
  }

  open(status: number, headers: ResponseHeaders): void {
    const { socket } = this.#connection
    if (this.#hasLeft || !socket.writable) return
    this.#framing = this.#isBodiless(status) ? 'no body' : this.#framingOf(headers)
    if (this.#framing === 'end of the connection') this.isLast = true
    const more = this.#framing === 'chunks' ? 'transfer-encoding: chunked\r\n' : ''
    corkInStage(socket)
    socket.write(answerHead(status, headers, `${more}${this.#lines()}`), 'latin1')
  }

  write(chunk: Buffer): Promise<void> | undefined {
    const { socket } = this.#connection
    // One that says nothing would end the answer.
    if (chunk.length === 0 || !this.#mayWrite) return undefined
    corkInStage(socket)
    return socket.write(this.#framing === 'chunks' ? framed(chunk) : chunk) ? undefined : drained(socket)
  }

  async pass(chunk: Buffer): Promise<void> {
    const { socket } = this.#connection
    if (chunk.length === 0 || !this.#mayWrite) return
    if (this.#framing !== 'chunks') return await passed(socket, chunk)
    // Not joined as short ones are: such a chunk is long.
    corkInStage(socket)
    socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
    const written = passed(socket, chunk)
    socket.write(lineEnd, 'latin1')
    await written
  }

  end(): void {
    const { socket } = this.#connection
    if (this.#isEnded || this.#hasLeft || !socket.writable) return
    this.#isEnded = true
    corkInStage(socket)
    if (this.#framing === 'chunks') socket.write(lastChunk, 'latin1', this.#onFlushed)
    else this.#isFlushed = true
    this.#connection.answered(this)
  }

  cut(): void {
    this.#connection.socket.destroy()
  }

  get #mayWrite(): boolean {
    return !this.#hasLeft && !this.#isEnded && this.#framing !== 'no body' && this.#connection.socket.writable
  }

  readonly #onFlushed = (error?: Error | null): void => {
    if (error) return
    this.#isFlushed = true
    this.#connection.answered(this)
  }

  #framingOf(headers: ResponseHeaders): Framing {
    if (headers.some((name, i) => i % 2 === 0 && name === 'content-length')) return 'length'
    return this.#isOld ? 'end of the connection' : 'chunks'
  }

  #isBodiless(status: number): boolean {
    return this.method === 'HEAD' || status === 204 || status === 304
  }

  /** What the client is told of the connection, where it is not what its version takes for granted. */
  #lines(): string {
    // Who was not told to send the body may do so all the same, or not.
    if (this.#isAwaited && !this.bodyWhole) this.isLast = true
    if (this.isLast) return 'connection: close\r\n'
    return this.#isOld ? 'connection: keep-alive\r\n' : ''
  }
}

/** What belongs to a request beside its head. */
interface RequestParts {
  readonly body: IncomingBody | undefined
  readonly upgrade: UpgradeRequest | undefined
  readonly isLast: boolean
}

/** Bytes of an answer of which it is worth to hear that it is on its way. */
const longAnswer = 16 * 1024

const lastFramed: { chunk: Buffer; frame: Buffer } = { chunk: nothing, frame: nothing }

/** A chunk as it is sent. The last one is kept, as an event is written to all who watch, one after another. */
function framed(chunk: Buffer): Buffer {
  if (lastFramed.chunk === chunk) return lastFramed.frame
  const size = `${chunk.length.toString(16)}\r\n`
  const frame = Buffer.allocUnsafe(size.length + chunk.length + lineEnd.length)
  frame.write(size, 'latin1')
  chunk.copy(frame, size.length)
  frame.write(lineEnd, size.length + chunk.length, 'latin1')
  lastFramed.chunk = chunk
  lastFramed.frame = frame
  return frame
}

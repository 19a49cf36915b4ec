/**
 * Responds to an HTTP/1.1 request. This is a class because every request needs an instance, and objects with closures
 * are more expensive.
 */
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { drained, passed } from '../../../wire/http/streams.ts'
import type { ChunkMargins, Peer, ResponseHeaders, ServerTransport, UpgradeRequest } from '../server-transport.ts'
import { answerHead } from './answer-head.ts'
import type { IncomingBody } from './body.ts'
import type { RequestHead } from './head.ts'
import { corkInStage } from './stages.ts'

/** How the client recognizes the end of a response. */
type Framing = 'chunks' | 'length' | 'end of the connection' | 'no body'

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'
const nothing = Buffer.alloc(0)
const lineEnd = '\r\n'
const lastChunk = '0\r\n\r\n'

/** The interface through which a response uses its connection. */
export interface AnswerConnection {
  readonly socket: Socket
  readonly peer: Peer
  /** Called when the response has been written. Called again when a long response has been flushed to the socket. */
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
  /** Whether the connection closes after this response. */
  isLast: boolean
  #framing: Framing | undefined
  /** Whether the client waits for 100 Continue. */
  #isAwaited: boolean
  #isEnded = false
  #isFlushed = false
  #hasLeft = false
  /** Resolves when the last written chunk has been flushed to the socket. */
  #passing: Promise<void> | undefined
  #disconnected: AbortController | undefined

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

  get disconnected(): boolean {
    return this.#hasLeft && !this.#isFlushed
  }

  get signal(): AbortSignal {
    this.#disconnected ??= new AbortController()
    if (this.disconnected) this.#disconnected.abort()
    return this.#disconnected.signal
  }

  /** Whether the head of the response has been sent. The head states whether the connection stays open. */
  get isBegun(): boolean {
    return this.#framing !== undefined || this.#isEnded
  }

  /** Whether the whole response has been passed to the socket. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Whether the socket has flushed the whole response. */
  get isFlushed(): boolean {
    return this.#isFlushed
  }

  /** Sends 100 Continue if the client waits for it. */
  invite(): void {
    const { socket } = this.#connection
    if (!this.#isAwaited || this.isBegun) return
    this.#isAwaited = false
    if (socket.writable) socket.write(goOn)
  }

  /**
   * Releases the headers of an answered request. The client may still take a long time to send the rest of its body.
   */
  forgetHeaders(): void {
    this.rawHeaders = []
  }

  /** Aborts the request, because the client has disconnected. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    if (this.disconnected) this.#disconnected?.abort()
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
      // Do not wait for a short response to be flushed, because the callback would cost too much.
      this.#isFlushed = body.length < longAnswer
      socket.write(text, 'latin1')
      if (this.#isFlushed) socket.write(body)
      else socket.write(body, this.#onFlushed)
    }
    this.#connection.answered(this)
  }

  async responseRead(): Promise<void> {
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
    // Skip an empty chunk, because in chunked encoding it would end the response.
    if (chunk.length === 0 || !this.#mayWrite) return undefined
    corkInStage(socket)
    return socket.write(this.#framing === 'chunks' ? framed(chunk) : chunk) ? undefined : drained(socket)
  }

  pass(chunk: Buffer, margins?: ChunkMargins): Promise<void> {
    this.#passing = this.#pass(chunk, margins)
    return this.#passing
  }

  async #pass(chunk: Buffer, margins: ChunkMargins | undefined): Promise<void> {
    const { socket } = this.#connection
    if (chunk.length === 0 || !this.#mayWrite) return
    if (this.#framing !== 'chunks') return await passed(socket, chunk)
    corkInStage(socket)
    if (margins !== undefined) return await passed(socket, framedInPlace(chunk))
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
    // A client has little time to read from a connection that is closing. Flush the last chunk before closing the
    // connection.
    if (this.isLast && this.#passing !== undefined) void this.#passing.then(() => this.#answered())
    else this.#answered()
  }

  #answered(): void {
    if (!this.#connection.socket.destroyed) this.#connection.answered(this)
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

  /** Returns the connection headers, if they differ from the default of the HTTP version. */
  #lines(): string {
    // It is unknown whether a client that received no 100 Continue will send its body, so the connection cannot be
    // reused.
    if (this.#isAwaited && !this.bodyWhole) this.isLast = true
    if (this.isLast) return 'connection: close\r\n'
    return this.#isOld ? 'connection: keep-alive\r\n' : ''
  }
}

/** The properties of a request that its head does not contain, such as its body. */
interface RequestParts {
  readonly body: IncomingBody | undefined
  readonly upgrade: UpgradeRequest | undefined
  readonly isLast: boolean
}

/** Minimum size in bytes of a response for which the server waits until it is flushed. */
const longAnswer = 16 * 1024

/** Writes the framing of a chunk into the margins around it. Node would copy separate parts into one buffer. */
function framedInPlace(chunk: Buffer): Buffer {
  const size = `${chunk.length.toString(16)}\r\n`
  const start = chunk.byteOffset - size.length
  const frame = Buffer.from(chunk.buffer, start, size.length + chunk.length + lineEnd.length)
  frame.write(size, 'latin1')
  frame.write(lineEnd, frame.length - lineEnd.length, 'latin1')
  return frame
}

const lastFramed: { chunk: Buffer; frame: Buffer } = { chunk: nothing, frame: nothing }

/** Encodes a chunk. Caches the last chunk, because the same event is written to many watches in succession. */
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

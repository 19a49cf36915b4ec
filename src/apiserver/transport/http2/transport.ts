/**
 * Responds to an HTTP/2 request. This is a class because every request needs an instance, and objects with closures are
 * more expensive.
 */
import { Readable } from 'node:stream'
import { Http2Stream } from '../../../wire/http2/connection.ts'
import type { Peer, ResponseHeaders, ServerTransport } from '../server-transport.ts'
import type { Http2Body } from './body.ts'
import type { Http2Head } from './head.ts'

/** Number of unsent bytes above which a writer must wait. */
const enough = 64 * 1024
const nothing = Buffer.alloc(0)

/** The interface through which a response uses its connection. */
export interface AnswerConnection {
  readonly peer: Peer
  /**
   * Sends the response headers. If the response has no body, the same frame ends it. `sendPart` ends a response in the
   * same way.
   */
  sendHead(transport: Http2Transport, status: number, headers: ResponseHeaders): void
  sendPart(transport: Http2Transport, bytes: Buffer): void
  cut(transport: Http2Transport): void
}

export class Http2Transport extends Http2Stream implements ServerTransport {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly incoming: Http2Body | undefined
  readonly #connection: AnswerConnection
  #hasLeft = false
  #disconnected: AbortController | undefined
  /**
   * Body bytes that count against the stream's flow-control window, and the number of these bytes that the handler has
   * read.
   */
  received = 0
  returned = 0
  /** Progress of the client: the amount of unsent response data, and when that amount last changed. */
  stalled: { readonly unsent: number; readonly since: number } | undefined

  constructor(
    connection: AnswerConnection,
    { method, target, rawHeaders }: Http2Head,
    incoming: Http2Body | undefined,
  ) {
    super()
    this.method = method
    this.target = target
    this.rawHeaders = rawHeaders
    this.incoming = incoming
    this.#connection = connection
  }

  get peer(): Peer {
    return this.#connection.peer
  }

  get hasBody(): boolean {
    return this.incoming !== undefined
  }

  get body(): Readable {
    return this.incoming?.stream ?? Readable.from([])
  }

  get bodyAtHand(): Buffer | undefined {
    return this.incoming === undefined ? nothing : this.incoming.atHand
  }

  get bodyWhole(): boolean {
    return this.incoming?.isWhole ?? true
  }

  get disconnected(): boolean {
    return this.#hasLeft && !this.isEnded
  }

  get signal(): AbortSignal {
    this.#disconnected ??= new AbortController()
    if (this.disconnected) this.#disconnected.abort()
    return this.#disconnected.signal
  }

  /** Aborts the request, because the client has cancelled it or disconnected. */
  leave(): void {
    this.#hasLeft = true
    this.incoming?.drop()
    if (this.disconnected) this.#disconnected?.abort()
  }

  send(status: number, headers: ResponseHeaders, body: Buffer): void {
    if (!this.#mayWrite) return
    this.isEnding = body.length === 0 || this.#isBodiless(status)
    this.#connection.sendHead(this, status, headers)
    if (this.isEnding) return
    this.isEnding = true
    this.#connection.sendPart(this, body)
  }

  responseRead(): Promise<void> {
    return this.whenSent()
  }

  open(status: number, headers: ResponseHeaders): void {
    if (!this.#mayWrite) return
    this.isEnding = this.#isBodiless(status)
    this.#connection.sendHead(this, status, headers)
  }

  write(chunk: Buffer): Promise<void> | undefined {
    if (chunk.length === 0 || !this.#mayWrite) return undefined
    this.#connection.sendPart(this, chunk)
    return this.unsent < enough ? undefined : this.whenSent()
  }

  pass(chunk: Buffer): Promise<void> {
    if (chunk.length > 0 && this.#mayWrite) this.#connection.sendPart(this, chunk)
    return this.whenSent()
  }

  end(): void {
    if (!this.#mayWrite) return
    this.isEnding = true
    this.#connection.sendPart(this, nothing)
  }

  cut(): void {
    if (this.#mayWrite) this.#connection.cut(this)
  }

  get #mayWrite(): boolean {
    return !this.#hasLeft && !this.isEnding
  }

  #isBodiless(status: number): boolean {
    return this.method === 'HEAD' || status === 204 || status === 304
  }
}

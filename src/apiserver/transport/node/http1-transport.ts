/** Responds to an HTTP/1.1 request that Node has read. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { drained, passed } from '../../../wire/http/streams.ts'
import type { Peer, ResponseHeaders, ServerTransport, UpgradeRequest } from '../server-transport.ts'
import type { RequestBody } from './request-body.ts'
import { isBodiless, whenSent } from './responses.ts'

const nothing = Buffer.alloc(0)

/** The properties of a request that Node's objects do not contain. */
export interface Http1Parts {
  readonly peer: Peer
  readonly body: RequestBody | undefined
  readonly upgrade: UpgradeRequest | undefined
  /** Whether the client waits for 100 Continue before it sends the body. */
  readonly isAsking: boolean
}

export class NodeHttp1Transport implements ServerTransport {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  readonly upgrade: UpgradeRequest | undefined
  readonly response: ServerResponse
  readonly #socket: Socket
  readonly #body: RequestBody | undefined
  #isAsking: boolean
  #isBodiless = false
  #hasLeft = false
  #disconnected: AbortController | undefined

  constructor(request: IncomingMessage, response: ServerResponse, { peer, body, upgrade, isAsking }: Http1Parts) {
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.rawHeaders = request.rawHeaders
    this.response = response
    this.#socket = request.socket
    this.peer = peer
    this.upgrade = upgrade
    this.#body = body
    this.#isAsking = isAsking
    // Ignore the error of a broken connection. `leave` is called in this case too.
    response.on('error', () => {})
  }

  get hasBody(): boolean {
    return this.#body !== undefined
  }

  get body(): Readable {
    this.#invite()
    return this.#body?.stream ?? Readable.from([])
  }

  get bodyAtHand(): Buffer | undefined {
    return this.#body === undefined ? nothing : this.#body.atHand
  }

  get bodyWhole(): boolean {
    return this.#body?.isWhole ?? true
  }

  /** Whether the client may still be sending its body. */
  get isReceiving(): boolean {
    return this.#body?.isArriving === true
  }

  get disconnected(): boolean {
    return (this.#hasLeft || this.#socket.destroyed) && !this.response.writableFinished
  }

  get signal(): AbortSignal {
    this.#disconnected ??= new AbortController()
    if (this.disconnected) this.#disconnected.abort()
    return this.#disconnected.signal
  }

  /** Whether the head of the response has been sent. */
  get isBegun(): boolean {
    return this.response.headersSent
  }

  /** Aborts the request, because the client has disconnected. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#body?.break()
    if (this.disconnected) this.#disconnected?.abort()
  }

  breakBody(): void {
    this.#body?.break()
  }

  discardBody(): void {
    this.#body?.discard()
  }

  send(status: number, headers: ResponseHeaders, body: Buffer): void {
    if (!this.#mayBegin) return
    this.#begin(status, headers)
    this.response.end(this.#isBodiless ? undefined : body)
  }

  responseRead(): Promise<void> {
    return whenSent(this.response)
  }

  open(status: number, headers: ResponseHeaders): void {
    if (!this.#mayBegin) return
    this.#begin(status, headers)
    this.response.flushHeaders()
  }

  write(chunk: Buffer): Promise<void> | undefined {
    if (chunk.length === 0 || !this.#mayWrite) return undefined
    return this.response.write(chunk) ? undefined : drained(this.response)
  }

  async pass(chunk: Buffer): Promise<void> {
    if (chunk.length > 0 && this.#mayWrite) await passed(this.response, chunk)
  }

  end(): void {
    if (!this.disconnected && !this.response.writableEnded) this.response.end()
  }

  cut(): void {
    this.#socket.destroy()
  }

  get #mayBegin(): boolean {
    return !this.disconnected && !this.isBegun
  }

  get #mayWrite(): boolean {
    return !this.disconnected && !this.#isBodiless && !this.response.writableEnded
  }

  #begin(status: number, headers: ResponseHeaders): void {
    // It is unknown whether a client that received no 100 Continue will send its body, so the connection cannot be
    // reused.
    if (this.#isAsking && !this.bodyWhole) this.response.shouldKeepAlive = false
    this.#isBodiless = isBodiless(this.method, status)
    this.response.writeHead(status, headers)
  }

  #invite(): void {
    if (!this.#isAsking || this.isBegun || this.disconnected) return
    this.#isAsking = false
    this.response.writeContinue()
  }
}

/** Responds to an HTTP/2 request that Node has read. */
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { Readable } from 'node:stream'
import { assertFits } from '../../../wire/http/answer-headers.ts'
import { drained, passed } from '../../../wire/http/streams.ts'
import type { Http2Head } from '../http2/head.ts'
import type { Peer, ResponseHeaders, ServerTransport } from '../server-transport.ts'
import { RequestBody } from './request-body.ts'
import { isBodiless, whenSent } from './responses.ts'

const nothing = Buffer.alloc(0)
const cutOff = new Error('the response is truncated')

export class NodeHttp2Transport implements ServerTransport {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  readonly #stream: ServerHttp2Stream
  readonly #body: RequestBody | undefined
  #isEnding = false
  #disconnected: AbortController | undefined

  constructor(stream: ServerHttp2Stream, { method, target, rawHeaders }: Http2Head, peer: Peer) {
    this.method = method
    this.target = target
    this.rawHeaders = rawHeaders
    this.peer = peer
    this.#stream = stream
    this.#body = stream.endAfterHeaders ? undefined : this.#readBody()
    if (this.#body === undefined) stream.resume()
    stream.on('close', () => this.#leave())
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

  /**
   * If a stream is reset, Node ends its writable side as if the response were complete. Check `writableFinished` too.
   */
  get disconnected(): boolean {
    return this.#stream.aborted || (this.#stream.destroyed && !this.#stream.writableFinished)
  }

  get signal(): AbortSignal {
    this.#disconnected ??= new AbortController()
    if (this.disconnected) this.#disconnected.abort()
    return this.#disconnected.signal
  }

  send(status: number, headers: ResponseHeaders, body: Buffer): void {
    if (!this.#mayWrite) return
    if (body.length === 0 || isBodiless(this.method, status)) this.#respondAlone(status, headers)
    else {
      this.#stream.respond(headersByName(status, headers))
      this.#isEnding = true
      this.#stream.end(body)
      this.#discardBody()
    }
  }

  responseRead(): Promise<void> {
    return whenSent(this.#stream)
  }

  open(status: number, headers: ResponseHeaders): void {
    if (!this.#mayWrite) return
    if (isBodiless(this.method, status)) this.#respondAlone(status, headers)
    else this.#stream.respond(headersByName(status, headers))
  }

  write(chunk: Buffer): Promise<void> | undefined {
    if (chunk.length === 0 || !this.#mayWrite) return undefined
    return this.#stream.write(chunk) ? undefined : drained(this.#stream)
  }

  async pass(chunk: Buffer): Promise<void> {
    if (chunk.length > 0 && this.#mayWrite) await passed(this.#stream, chunk)
  }

  end(): void {
    if (!this.#mayWrite) return
    this.#isEnding = true
    this.#stream.end()
    this.#discardBody()
  }

  /** Destroy the stream, because `close` with an error code would first end the response properly. */
  cut(): void {
    this.#stream.destroy(cutOff)
  }

  get #mayWrite(): boolean {
    return !this.#isEnding && !this.#stream.closed && !this.#stream.destroyed
  }

  /** Sends a response without a body. */
  #respondAlone(status: number, headers: ResponseHeaders): void {
    this.#isEnding = true
    this.#stream.respond(headersByName(status, headers), { endStream: true })
    this.#discardBody()
  }

  /** Tells the client to stop sending its request body, because the response is complete. */
  #discardBody(): void {
    if (this.bodyWhole) return
    const close = () => this.#stream.close(constants.NGHTTP2_NO_ERROR)
    if (this.#stream.writableFinished) close()
    else this.#stream.once('finish', close)
  }

  /**
   * Returns the request body. If a stream is reset, Node ends its readable side as if the body were complete. `closed`
   * distinguishes the two cases.
   */
  #readBody(): RequestBody {
    const stream = this.#stream
    const isComplete = () => stream.readableEnded && !stream.closed
    return new RequestBody({ stream, isComplete, onOver: () => {}, onExcess: () => {} })
  }

  #leave(): void {
    this.#body?.break()
    if (this.disconnected) this.#disconnected?.abort()
  }
}

function headersByName(status: number, headers: ResponseHeaders): OutgoingHttpHeaders {
  const byName: { [name: string]: string | string[] } = { ':status': String(status) }
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    assertFits(name, value)
    const before = byName[name]
    byName[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return byName
}

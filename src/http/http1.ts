/** The exchange over HTTP/1.1. A class, as one is made per request and its methods are then shared. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Peer, ResponseHeaders, ServerTransport, UpgradeRequest } from './exchange.ts'
import { aborted, drained, passed, taken } from './streams.ts'

const maxDiscarded = 16 * 1024 * 1024

export class Http1Transport implements ServerTransport {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  readonly body: IncomingMessage
  readonly upgrade: UpgradeRequest | undefined
  readonly #response: ServerResponse
  #signal: AbortSignal | undefined

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { peer, upgrade }: { readonly peer: Peer; readonly upgrade: UpgradeRequest | undefined },
  ) {
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.rawHeaders = request.rawHeaders
    this.peer = peer
    this.upgrade = upgrade
    this.body = request
    this.#response = response
  }

  get hasBody(): boolean {
    const { headers } = this.body
    return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  }

  get bodyWhole(): boolean {
    return this.body.complete
  }

  get gone(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished
  }

  get signal(): AbortSignal {
    this.#signal ??= aborted(this.#response, () => this.gone)
    return this.#signal
  }

  send(status: number, headers: ResponseHeaders, body: Buffer, unread: boolean): void {
    if (unread) this.#discard()
    this.#response.writeHead(status, headers)
    this.#response.end(body)
  }

  taken(): Promise<void> {
    return taken(this.#response)
  }

  open(status: number, headers: ResponseHeaders): void {
    this.#response.writeHead(status, headers)
    this.#response.flushHeaders()
  }

  write(chunk: Buffer): Promise<void> | undefined {
    return this.#response.destroyed || this.#response.write(chunk) ? undefined : drained(this.#response)
  }

  pass(chunk: Buffer): Promise<void> {
    return passed(this.#response, chunk)
  }

  end(): void {
    this.#response.end()
  }

  cut(): void {
    this.#response.destroy()
  }

  /** Takes the rest of a body that nobody wants, so that the client gets to read the answer; up to a limit. */
  #discard(): void {
    let size = 0
    this.body.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxDiscarded) this.body.socket.destroy()
    })
  }
}

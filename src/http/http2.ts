/** The exchange over HTTP/2. A class, as one is made per request and its methods are then shared. */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { withoutBlanks } from '../base/header-line.ts'
import type { Peer, ResponseHeaders, ServerTransport } from './exchange.ts'
import { aborted, drained, passed, taken } from './streams.ts'

const noError = 0
const cutOff = new Error('the answer is cut off')
const nothing = Buffer.alloc(0)
const withBody = { endStream: false }
const withoutBody = { endStream: true }

export class Http2Transport implements ServerTransport {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  readonly body: ServerHttp2Stream
  #signal: AbortSignal | undefined

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[], peer: Peer) {
    this.method = headers[':method'] ?? ''
    this.target = headers[':path'] ?? ''
    this.rawHeaders = trimmed(withoutPseudo(rawHeaders))
    this.peer = peer
    this.body = stream
  }

  get hasBody(): boolean {
    return !this.body.endAfterHeaders
  }

  /** Node hands out the streams alone. */
  get bodyAtHand(): Buffer | undefined {
    return this.hasBody ? undefined : nothing
  }

  /**
   * Node ends the readable side of a stream that was reset, or that went with its connection, just as it does at
   * END_STREAM. But such a stream is closed by then, and one that is still to be answered is not.
   */
  get bodyWhole(): boolean {
    return !this.body.closed
  }

  /** Node finishes the writable side of a stream that was reset, so that it looks as if all had been sent. */
  get gone(): boolean {
    return this.body.aborted || (this.body.destroyed && !this.body.writableFinished)
  }

  get signal(): AbortSignal {
    this.#signal ??= aborted(this.body, () => this.gone)
    return this.#signal
  }

  send(status: number, headers: ResponseHeaders, body: Buffer, unread: boolean): void {
    const stream = this.body
    if (stream.closed) return
    const bodiless = this.method === 'HEAD'
    stream.respond([':status', String(status), ...headers], bodiless ? withoutBody : withBody)
    if (!bodiless) stream.end(body)
    // What the client still sends of its body is not wanted.
    if (unread) stream.once('finish', () => stream.close(noError))
  }

  taken(): Promise<void> {
    return taken(this.body)
  }

  open(status: number, headers: ResponseHeaders): void {
    if (!this.body.closed) this.body.respond([':status', String(status), ...headers])
  }

  write(chunk: Buffer): Promise<void> | undefined {
    return this.body.closed || this.body.write(chunk) ? undefined : drained(this.body)
  }

  pass(chunk: Buffer): Promise<void> {
    return passed(this.body, chunk)
  }

  end(): void {
    this.body.end()
  }

  /** Closing it with a code would end the answer first, and it would pass for a complete one. */
  cut(): void {
    this.body.destroy(cutOff)
  }
}

function withoutPseudo(raw: readonly string[]): string[] {
  let start = 0
  // They come before all others.
  while (start < raw.length && raw[start]!.charCodeAt(0) === colon) start += 2
  return raw.slice(start)
}

const colon = 0x3a

/** Values without the blanks around them, as HTTP/1.1 has them. */
function trimmed(raw: string[]): string[] {
  for (let i = 1; i < raw.length; i += 2) {
    raw[i] = withoutBlanks(raw[i]!)
  }
  return raw
}

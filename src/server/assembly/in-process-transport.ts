/**
 * A client transport within this process. It passes a request directly to the pipeline as a given user, who is
 * authorized like any other user, and returns the response without using the network.
 *
 * The transport behaves like the network: the server writes a response only as fast as the client reads it, and a
 * client that stops reading or aborts ends the request. Response bytes belong to the server and must not be changed.
 * `close` ends running requests and waits for them for a limited time, so that no request uses the store afterwards.
 *
 * Control loops may send hundreds of requests and read hundreds of events in a single turn of the event loop. Requests
 * and response chunks therefore wait for a turn with free time, so that network clients have priority.
 */
import { Readable } from 'node:stream'
import { authenticated, type User } from '../../api/model/user.ts'
import type { Step } from '../../apiserver/http/pipeline.ts'
import { Exchange } from '../../apiserver/http/request/exchange.ts'
import type { ResponseHeaders, ServerTransport } from '../../apiserver/transport/server-transport.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { roomInTurn } from '../../base/concurrency/time-slice.ts'
import type { Clock } from '../../base/time/clock.ts'
import {
  type Transport as ClientTransport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../../client/requests/transport.ts'

/** Creates a pipeline that authenticates requests with the given step. */
export type HandleAs = (identify: Step) => (exchange: Exchange) => Promise<void>

export class InProcess {
  readonly #handleAs: HandleAs
  readonly #clock: Clock
  readonly #stop = new AbortController()
  /**
   * Requests in progress. `close` iterates over them instead of using abort listeners, because adding such a listener
   * becomes slower with every request.
   */
  readonly #conversations = new Set<Conversation>()
  readonly #running = new Set<Promise<void>>()

  constructor(handleAs: HandleAs, clock: Clock) {
    this.#handleAs = handleAs
    this.#clock = clock
  }

  transport(user: User): ClientTransport {
    const handle = this.#handleAs(actAs(authenticated(user)))
    return async (request) => {
      await roomInTurn()
      if (this.#stop.signal.aborted) throw new TransportError('the server has stopped')
      request.signal.throwIfAborted()
      const conversation = new Conversation(request)
      this.#own(conversation, handle(new Exchange(conversation, this.#clock.monotonic())))
      return await conversation.answer
    }
  }

  /**
   * Closes the transport. Returns the number of requests that did not end within the grace period. Such requests do not
   * prevent the server from stopping.
   */
  async close(graceMs: number): Promise<number> {
    this.#stop.abort()
    for (const conversation of [...this.#conversations])
      conversation.leave(new TransportError('the server has stopped'))
    const ended = new AbortController()
    await Promise.race([Promise.all(this.#running), pause(graceMs, ended.signal)])
    ended.abort()
    return this.#running.size
  }

  #own(conversation: Conversation, handled: Promise<void>): void {
    this.#conversations.add(conversation)
    const running = handled
      .then(
        () => conversation.finish(undefined),
        (error: unknown) => conversation.finish(error),
      )
      .then(() => {
        this.#conversations.delete(conversation)
        this.#running.delete(running)
      })
    this.#running.add(running)
  }
}

function actAs(user: User): Step {
  return (exchange) => {
    exchange.user = user
  }
}

/** Maximum number of response bytes that wait for the reader. */
const maxWaitingBytes = 256 * 1024
/** Maximum number of bytes to deliver before yielding to other work. A watch chunk may contain hundreds of events. */
const pieceBytes = 16 * 1024
const nobody = { address: '', certificate: undefined, proved: () => undefined, isProved: true, end: () => {} }

/** A request with its response. Connects the server's side of the transport with the client's side. */
class Conversation implements ServerTransport {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer = nobody
  readonly signal: AbortSignal
  readonly hasBody: boolean
  readonly bodyAtHand: Buffer
  /** The transport provides the body as a single chunk. */
  readonly bodyWhole = true
  readonly answer: Promise<TransportResponse>
  readonly #clientGone = new AbortController()
  #begin!: (response: TransportResponse) => void
  #refuse!: (error: unknown) => void
  #waiting: Buffer[] = []
  #bytes = 0
  #complete = false
  /** The reason why the response ended before it was complete. */
  #broken: { readonly why: unknown } | undefined
  #wakeReader = () => {}
  #wakeWriter = () => {}
  readonly #forget: () => void

  constructor({ method, path, headers, body, signal }: TransportRequest) {
    this.method = method
    this.target = path
    this.rawHeaders = Object.entries(headers).flat()
    this.hasBody = body !== undefined
    this.bodyAtHand = body === undefined ? Buffer.alloc(0) : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    this.signal = this.#clientGone.signal
    this.answer = new Promise((resolve, reject) => {
      this.#begin = resolve
      this.#refuse = reject
    })
    const onAbort = () => this.leave(signal.reason)
    signal.addEventListener('abort', onAbort)
    this.#forget = () => signal.removeEventListener('abort', onAbort)
  }

  get body(): Readable {
    return Readable.from([this.bodyAtHand])
  }

  send(status: number, headers: ResponseHeaders, body: Buffer): void {
    this.open(status, headers)
    if (this.method !== 'HEAD') this.#hold(body)
    this.end()
  }

  /** No flow control is needed, because the response is read from the memory of this process. */
  async responseRead(): Promise<void> {}

  open(status: number, headers: ResponseHeaders): void {
    this.#begin({ status, headers: plain(headers), body: this.#read() })
  }

  /** Whether the response has ended, completely or with an error. */
  get isOver(): boolean {
    return this.#complete || this.#broken !== undefined
  }

  get disconnected(): boolean {
    return this.#broken !== undefined
  }

  write(chunk: Buffer): Promise<void> | undefined {
    if (this.isOver) return undefined
    this.#hold(chunk)
    this.#wakeReader()
    if (this.#bytes <= maxWaitingBytes) return undefined
    return new Promise((resolve) => {
      this.#wakeWriter = resolve
    })
  }

  /** Sends a chunk. Copies the chunk because the caller reuses its memory. */
  async pass(chunk: Buffer): Promise<void> {
    await this.write(Buffer.from(chunk))
  }

  /** Wake readers and writers, because no more bytes will arrive. */
  end(): void {
    this.#complete = true
    this.#wakeReader()
    this.#wakeWriter()
  }

  cut(): void {
    this.leave(new TransportError('the server aborted the response'))
  }

  /** Ends the request on the client's side. Unread response bytes are dropped. */
  leave(why: unknown): void {
    if (this.isOver) return
    this.#broken = { why }
    this.#waiting = []
    this.#clientGone.abort()
    this.#refuse(why)
    this.#wakeReader()
    this.#wakeWriter()
  }

  /** Ends the request on the server's side, even if the response is not complete. */
  finish(error: unknown): void {
    this.#forget()
    // Check this first, because creating an error is expensive.
    if (!this.isOver) this.leave(new TransportError("the server's response is incomplete", { cause: error }))
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#take()
        if (chunk !== undefined) yield* inPieces(chunk)
        if (this.#broken) throw this.#broken.why
        if (chunk !== undefined) continue
        if (this.#complete) return
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve
        })
      }
    } finally {
      if (!this.isOver) this.leave(new TransportError('the client stopped reading'))
    }
  }

  #hold(chunk: Buffer): void {
    this.#waiting.push(chunk)
    this.#bytes += chunk.length
  }

  /** Removes and returns the first waiting chunk. Resumes the writer if there is room for more. */
  #take(): Buffer | undefined {
    const chunk = this.#waiting.shift()
    this.#bytes -= chunk?.length ?? 0
    if (this.#bytes <= maxWaitingBytes) this.#wakeWriter()
    return chunk
  }
}

async function* inPieces(chunk: Buffer): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < chunk.length; from += pieceBytes) {
    await roomInTurn()
    yield chunk.subarray(from, from + pieceBytes)
  }
}

function plain(headers: ResponseHeaders): { [name: string]: string } {
  const merged = new Map<string, string>()
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    const before = merged.get(name)
    merged.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(merged)
}

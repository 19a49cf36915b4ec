/**
 * The client's transport within this process: a request goes straight into the pipeline as a given user, who is
 * authorized like any other, and its answer comes back without a network in between.
 *
 * Keeps the promises of the network: an answer is written at its reader's pace, and a reader who leaves or aborts ends
 * the request. The bytes handed over are the server's own and must not be changed. `close` ends what is under way and
 * waits for it, so that nothing uses the store afterwards, but not for ever.
 *
 * Loops send hundreds of requests and read hundreds of events at once, and each makes work in the very turn of the event
 * loop. So requests and pieces of answers wait for room in a turn: clients of the network go first.
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

/** The pipeline, with this step in the place of authentication. */
export type HandleAs = (identify: Step) => (exchange: Exchange) => Promise<void>

export class InProcess {
  readonly #handleAs: HandleAs
  readonly #clock: Clock
  readonly #stop = new AbortController()
  /** What is under way. A listener of the signal for each would be looked through with every further one. */
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

  /** Returns how many have not ended in this time: a request that cannot end does not keep the server from stopping. */
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

/** How much of an answer may wait for its reader. */
const maxWaitingBytes = 256 * 1024
/** How much of it is handed over before others may have their turn: a chunk of a watch may have hundreds of events. */
const pieceBytes = 16 * 1024
const nobody = { address: '', certificate: undefined, proved: () => undefined, isProved: true, end: () => {} }

/** One request and its answer: the server writes into it, the client reads from it. */
class Conversation implements ServerTransport {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer = nobody
  readonly signal: AbortSignal
  readonly hasBody: boolean
  readonly bodyAtHand: Buffer
  /** It is handed over in one piece. */
  readonly bodyWhole = true
  readonly answer: Promise<TransportResponse>
  readonly #gone = new AbortController()
  #begin!: (response: TransportResponse) => void
  #refuse!: (error: unknown) => void
  #waiting: Buffer[] = []
  #bytes = 0
  #complete = false
  /** Why there will be no more, if that is not because the answer is complete. */
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
    this.signal = this.#gone.signal
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

  /** Its memory is that of this process, wherever it lies. */
  async taken(): Promise<void> {}

  open(status: number, headers: ResponseHeaders): void {
    this.#begin({ status, headers: plain(headers), body: this.#read() })
  }

  /** Whether the answer is complete, or will never be. */
  get isOver(): boolean {
    return this.#complete || this.#broken !== undefined
  }

  get gone(): boolean {
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

  /** What waits for its reader is a copy: who passed the chunk uses its memory again. */
  async pass(chunk: Buffer): Promise<void> {
    await this.write(Buffer.from(chunk))
  }

  end(): void {
    this.#complete = true
    this.#wakeReader()
  }

  cut(): void {
    this.leave(new TransportError('the server has cut off its answer'))
  }

  /** The client goes, or is made to. What was written and not read is dropped. */
  leave(why: unknown): void {
    if (this.isOver) return
    this.#broken = { why }
    this.#waiting = []
    this.#gone.abort()
    this.#refuse(why)
    this.#wakeReader()
    this.#wakeWriter()
  }

  /** The server is done with it, whether or not it has answered in full. */
  finish(error: unknown): void {
    this.#forget()
    // An error is expensive to make.
    if (!this.isOver) this.leave(new TransportError('the server gave no complete answer', { cause: error }))
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
      if (!this.isOver) this.leave(new TransportError('the reader has left'))
    }
  }

  #hold(chunk: Buffer): void {
    this.#waiting.push(chunk)
    this.#bytes += chunk.length
  }

  /** The first chunk that waits. The writer may go on when there is room for more. */
  #take(): Buffer | undefined {
    const taken = this.#waiting.shift()
    this.#bytes -= taken?.length ?? 0
    if (this.#bytes <= maxWaitingBytes) this.#wakeWriter()
    return taken
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

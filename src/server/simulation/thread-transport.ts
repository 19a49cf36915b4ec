/**
 * The transport of the thread, which sends requests to the API server as messages. The server passes each request
 * through its pipeline on behalf of a node agent, which is authorized like any other user (`request-server.ts`). The
 * transport satisfies the contract of `client/requests/transport.ts`: the server sends a response only as fast as the
 * client reads it, and a client that stops reading or aborts ends the request.
 */
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../../client/requests/transport.ts'
import type { RequestMessage, ResponseMessage } from './messages.ts'

type Post = (message: RequestMessage) => void

export class ThreadTransport {
  readonly #post: Post
  readonly #onBytes: (bytes: number) => void
  readonly #underWay = new Map<number, ThreadExchange>()
  #lastId = 0

  /** Creates a transport. `onBytes` is called with the size of each received chunk before the chunk is read. */
  constructor(post: Post, onBytes: (bytes: number) => void) {
    this.#post = post
    this.#onBytes = onBytes
  }

  /** Returns a transport that acts as the agent of this node. */
  as(node: string): Transport {
    return async (request) => {
      request.signal.throwIfAborted()
      const id = ++this.#lastId
      const exchange = new ThreadExchange(request, {
        read: (bytes) => this.#post({ type: 'read', id, bytes }),
        leave: () => this.#post({ type: 'abort', id }),
        over: () => this.#underWay.delete(id),
      })
      this.#underWay.set(id, exchange)
      const { method, path, headers } = request
      const data = request.body as Uint8Array<ArrayBuffer> | undefined
      this.#post({ type: 'request', id, node, method, path, headers, data })
      return await exchange.response
    }
  }

  receive(message: ResponseMessage): void {
    if (message.type === 'chunk') this.#onBytes(message.data.length)
    this.#underWay.get(message.id)?.receive(message)
  }
}

interface ExchangeEffects {
  readonly read: (bytes: number) => void
  readonly leave: () => void
  readonly over: () => void
}

class ThreadExchange {
  readonly response: Promise<TransportResponse>
  readonly #effects: ExchangeEffects
  readonly #begin: (response: TransportResponse) => void
  readonly #refuse: (error: unknown) => void
  readonly #forget: () => void
  readonly #chunks: Uint8Array[] = []
  #isComplete = false
  #broken: { readonly why: unknown } | undefined
  #wake = () => {}

  constructor({ signal }: TransportRequest, effects: ExchangeEffects) {
    this.#effects = effects
    const { promise, resolve, reject } = Promise.withResolvers<TransportResponse>()
    this.response = promise
    this.#begin = resolve
    this.#refuse = reject
    const onAbort = () => this.#leave(signal.reason)
    signal.addEventListener('abort', onAbort)
    this.#forget = () => signal.removeEventListener('abort', onAbort)
  }

  receive(message: ResponseMessage): void {
    if (message.type === 'head') this.#begin({ status: message.status, headers: message.headers, body: this.#read() })
    else if (message.type === 'chunk') this.#chunks.push(message.data)
    else if (message.type === 'end') {
      this.#isComplete = true
      this.#end()
    } else this.#break(new TransportError(message.why))
    this.#wake()
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          this.#effects.read(chunk.length)
          yield chunk
        } else if (this.#broken) throw this.#broken.why
        else if (this.#isComplete) return
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
      }
    } finally {
      this.#leave(new TransportError('the client stopped reading'))
    }
  }

  #leave(why: unknown): void {
    if (this.#isComplete || this.#broken) return
    this.#chunks.length = 0
    this.#effects.leave()
    this.#break(why)
    this.#wake()
  }

  #break(why: unknown): void {
    this.#broken = { why }
    this.#refuse(why)
    this.#end()
  }

  #end(): void {
    this.#forget()
    this.#effects.over()
  }
}

/**
 * Serves requests that the simulation thread sends as messages. The API server's whole pipeline handles each request as
 * if it came from the agent of one of the thread's nodes. The thread cannot act as another user. At most `windowBytes`
 * of a response are in transit to the thread, even if the thread reads slowly.
 */
import { messageOf } from '../../base/text/errors.ts'
import type { Transport } from '../../client/requests/transport.ts'
import type { RequestMessage, ResponseMessage } from './messages.ts'

type Post = (message: ResponseMessage) => void
type Request = Extract<RequestMessage, { type: 'request' }>

const windowBytes = 256 * 1024

interface UnderWay {
  readonly ended: AbortController
  unreadBytes: number
  wake: () => void
}

export class RequestServer {
  /** Returns the transport that acts as the agent of a node, or undefined if the node does not belong to the thread. */
  readonly #transportOf: (node: string) => Transport | undefined
  readonly #post: Post
  readonly #underWay = new Map<number, UnderWay>()

  constructor(transportOf: (node: string) => Transport | undefined, post: Post) {
    this.#transportOf = transportOf
    this.#post = post
  }

  receive(message: RequestMessage): void {
    if (message.type === 'request') {
      void this.#serve(message)
      return
    }
    const underWay = this.#underWay.get(message.id)
    if (underWay === undefined) return
    if (message.type === 'abort') underWay.ended.abort()
    else underWay.unreadBytes -= message.bytes
    underWay.wake()
  }

  /** Aborts all requests. Called after the thread has ended. */
  close(): void {
    for (const { ended, wake } of this.#underWay.values()) {
      ended.abort()
      wake()
    }
  }

  async #serve(request: Request): Promise<void> {
    const { id } = request
    const underWay: UnderWay = { ended: new AbortController(), unreadBytes: 0, wake: () => {} }
    this.#underWay.set(id, underWay)
    try {
      await this.#answer(request, underWay)
      this.#post({ type: 'end', id })
    } catch (error) {
      this.#post({ type: 'broken', id, why: messageOf(error) })
    } finally {
      this.#underWay.delete(id)
    }
  }

  async #answer({ id, node, method, path, headers, data: body }: Request, underWay: UnderWay): Promise<void> {
    const transport = this.#transportOf(node)
    if (transport === undefined) throw new Error('the simulated nodes may not act as this user')
    const { signal } = underWay.ended
    const response = await transport({ method, path, headers, body, signal })
    this.#post({ type: 'head', id, status: response.status, headers: response.headers })
    for await (const chunk of response.body) {
      underWay.unreadBytes += chunk.length
      this.#post({ type: 'chunk', id, data: chunk as Uint8Array<ArrayBuffer> })
      while (underWay.unreadBytes > windowBytes && !signal.aborted)
        await new Promise<void>((resolve) => {
          underWay.wake = resolve
        })
      signal.throwIfAborted()
    }
  }
}

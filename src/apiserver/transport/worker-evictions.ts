/**
 * Evicts connections across workers. The connection limit applies to all workers together. At the limit, a worker
 * without unauthenticated connections asks the other workers, one after another, to evict one of their connections.
 *
 * The TLS handshake of the new connection continues in the meantime. If no worker evicts a connection in time, the new
 * connection is closed. The number of waiting connections is limited. Above this limit, the oldest connection of the
 * network with the most waiting connections is closed.
 */
import type { Socket } from 'node:net'
import { BroadcastChannel } from 'node:worker_threads'
import type { CountingPlace } from './connection-counts.ts'
import { connectionKey, UnauthenticatedConnections } from './unauthenticated-connections.ts'

/** The channel over which workers send each other eviction requests, and the index of this worker. */
export interface EvictionChannel {
  readonly channel: string
  readonly index: number
  /** Maximum time in milliseconds to wait for the response of one worker. Defaults to half a second. */
  readonly answerMs?: number
}

/** Lets workers count their connections together and evict each other's connections. */
export type WorkerConnections = CountingPlace & EvictionChannel

type Message =
  | {
      readonly type: 'evict'
      readonly from: number
      readonly to: number
      readonly id: number
      /** The address of the new client. */
      readonly remoteAddress: string
    }
  | { readonly type: 'answer'; readonly to: number; readonly id: number; readonly outcome: Outcome }

/** Whether the other worker evicted a connection. */
type Outcome = 'evicted' | 'none evicted'

const defaultAnswerMs = 500

export class WorkerEvictions {
  readonly #port: BroadcastChannel
  readonly #index: number
  readonly #answerMs: number
  readonly #evict: (remoteAddress: string) => boolean
  readonly #waiting: UnauthenticatedConnections
  readonly #questions = new Map<number, (outcome: Outcome) => void>()
  #lastId = 0

  /**
   * Creates the channel to the other workers. `evict` closes a connection of this worker when another worker requests
   * it. At most `maxWaiting` new connections of this worker wait for an eviction.
   */
  constructor(
    { channel, index, answerMs = defaultAnswerMs }: EvictionChannel,
    maxWaiting: number,
    evict: (remoteAddress: string) => boolean,
  ) {
    this.#port = new BroadcastChannel(`${channel} evictions`)
    this.#port.unref()
    this.#port.onmessage = (event: unknown) => this.#receive((event as { data: Message }).data)
    this.#index = index
    this.#answerMs = answerMs
    this.#evict = evict
    this.#waiting = new UnauthenticatedConnections({
      total: maxWaiting,
      perAddress: maxWaiting,
      minTime: Number.POSITIVE_INFINITY,
    })
  }

  /**
   * Asks the workers, in the given order, to evict a connection. Closes the given connection if none of them does.
   * Returns false if there is no worker to ask, or if too many connections wait.
   */
  makeRoom(socket: Socket, workers: readonly number[]): boolean {
    if (workers.length === 0 || this.#waiting.admit(socket) === 'rejected') return false
    void this.#askAll(socket, workers)
    return true
  }

  close(): void {
    this.#port.close()
    for (const settle of this.#questions.values()) settle('none evicted')
  }

  async #askAll(socket: Socket, workers: readonly number[]): Promise<void> {
    const key = connectionKey(socket)
    const remoteAddress = socket.remoteAddress ?? ''
    for (const worker of workers) {
      if (socket.destroyed || (await this.#ask(worker, remoteAddress)) === 'evicted') {
        this.#waiting.knows(key)
        return
      }
    }
    socket.destroy()
  }

  #ask(to: number, remoteAddress: string): Promise<Outcome> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const settle = (outcome: Outcome) => {
        clearTimeout(timer)
        this.#questions.delete(id)
        resolve(outcome)
      }
      const timer = setTimeout(settle, this.#answerMs, 'none evicted')
      this.#questions.set(id, settle)
      this.#send({ type: 'evict', from: this.#index, to, id, remoteAddress })
    })
  }

  #receive(message: Message): void {
    if (message.to !== this.#index) return
    const { id } = message
    if (message.type === 'answer') this.#questions.get(id)?.(message.outcome)
    else {
      const outcome = this.#evict(message.remoteAddress) ? 'evicted' : 'none evicted'
      this.#send({ type: 'answer', to: message.from, id, outcome })
    }
  }

  #send(message: Message): void {
    this.#port.postMessage(message)
  }
}

/**
 * The store's side of its thread: sends requests, matches replies, and turns failures into the errors of the contract.
 * When the thread ends, however it ends, every request under way and every later one is rejected. That, and a write
 * that failed for good, is reported to `onFailed`: nothing can be written from then on.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { StoreError, StoreFull } from '../store.ts'
import type { Failure, OpenReply, Reply, Request } from './messages.ts'

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** Called at once when the reply is there, one reply after the other. */
export interface Receiver {
  resolve(result: unknown): void
  reject(error: StoreError): void
}

export interface Listeners {
  /** The thread is gone. */
  onEnd(error: StoreError): void
  /** Nothing can be written any more. Called for every write that fails so. */
  onFailed(error: StoreError): void
}

interface Waiting {
  readonly receiver: Receiver
  readonly writes: boolean
}

export class Connection {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
  readonly #exited: Promise<void>
  #lastId = 0
  readonly #onFailed: (error: StoreError) => void
  #ended: StoreError | undefined
  #closing = false

  /** Starts the thread and waits until it has opened the file. */
  static async open(directory: string, listeners: Listeners): Promise<{ connection: Connection; state: OpenReply }> {
    const connection = new Connection(directory, listeners)
    try {
      const state = await new Promise((resolve, reject) => connection.#expect(0, { resolve, reject }, false))
      return { connection, state: state as OpenReply }
    } catch (error) {
      await connection.#exited
      throw error
    }
  }

  private constructor(directory: string, { onEnd, onFailed }: Listeners) {
    this.#onFailed = onFailed
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(threadUrl(), {
      workerData: { port: port2, directory },
      transferList: [port2],
      execArgv: [],
    })
    this.#port.on('message', (reply: Reply) => this.#receive(reply))
    let cause: unknown
    this.#worker.on('error', (error: unknown) => {
      cause = error
    })
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        const ended = this.#end(cause)
        onEnd(ended)
        if (!this.#closing) onFailed(ended)
        resolve()
      })
    })
  }

  request(request: WithoutId<Request>): Promise<unknown> {
    return new Promise((resolve, reject) => this.send(request, [], { resolve, reject }))
  }

  send(request: WithoutId<Request>, transfer: ArrayBuffer[], receiver: Receiver): void {
    if (this.#ended) {
      receiver.reject(this.#ended)
      return
    }
    const id = ++this.#lastId
    this.#expect(id, receiver, request.type === 'commit')
    this.#port.postMessage({ ...request, id }, transfer)
  }

  /** Lets the thread close the file and waits for its end. */
  async close(): Promise<void> {
    this.#closing = true
    try {
      if (!this.#ended) await this.request({ type: 'close' })
    } finally {
      this.#port.close()
      await this.#exited
    }
  }

  #expect(id: number, receiver: Receiver, writes: boolean): void {
    this.#waiting.set(id, { receiver, writes })
  }

  #receive(reply: Reply): void {
    const receiver = this.#waiting.get(reply.id)?.receiver
    this.#waiting.delete(reply.id)
    if (!('failure' in reply)) {
      receiver?.resolve(reply.result)
      return
    }
    const error = toError(reply.failure)
    if (reply.failure.kind === 'failed') this.#onFailed(error)
    receiver?.reject(error)
  }

  #end(cause: unknown): StoreError {
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    const ended = new StoreError(`the thread of the store has ended${why}`, { cause })
    this.#ended = ended
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { receiver, writes } of waiting) {
      receiver.reject(writes ? new StoreError(ended.message, { cause, ambiguous: true }) : ended)
    }
    this.#port.close()
    return ended
  }
}

function toError({ kind, message, ambiguous }: Failure): StoreError {
  return kind === 'full' ? new StoreFull(message) : new StoreError(message, { ambiguous })
}

// The bundle has the thread beside it as a file of its own.
function threadUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './store-thread.js', import.meta.url)
}

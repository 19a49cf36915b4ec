/**
 * The store's side of its thread: sends requests, matches replies, and turns failures into the errors of the contract.
 * When the thread ends, however it ends, every request under way and every later one is rejected.
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
  #ended: StoreError | undefined

  /** Starts the thread and waits until it has opened the file. `onEnd` is told when the thread is gone. */
  static async open(
    directory: string,
    onEnd: (error: StoreError) => void,
  ): Promise<{ connection: Connection; state: OpenReply }> {
    const connection = new Connection(directory, onEnd)
    try {
      const state = await new Promise((resolve, reject) => connection.#expect(0, { resolve, reject }, false))
      return { connection, state: state as OpenReply }
    } catch (error) {
      await connection.#exited
      throw error
    }
  }

  private constructor(directory: string, onEnd: (error: StoreError) => void) {
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
        this.#end(cause)
        onEnd(this.#ended!)
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
    if ('failure' in reply) receiver?.reject(toError(reply.failure))
    else receiver?.resolve(reply.result)
  }

  #end(cause: unknown): void {
    this.#ended = new StoreError('the thread of the store has ended', { cause })
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { receiver, writes } of waiting) {
      receiver.reject(writes ? new StoreError(this.#ended.message, { cause, ambiguous: true }) : this.#ended)
    }
    this.#port.close()
  }
}

function toError({ kind, message }: Failure): StoreError {
  // After a failed sync nobody can say what the disk holds.
  return kind === 'full' ? new StoreFull(message) : new StoreError(message, { ambiguous: kind === 'failed' })
}

// The bundle has the thread beside it as a file of its own.
function threadUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './store-thread.js', import.meta.url)
}

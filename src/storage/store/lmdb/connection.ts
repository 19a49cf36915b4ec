/**
 * Connects a store to the thread that owns its file. The connection sends requests, matches replies, and converts
 * failures to the errors of the store contract. When the thread ends for any reason, all pending and later requests are
 * rejected. `onFailed` reports the end of the thread and permanent write failures, after which the store can no longer
 * write.
 */

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { isError } from '../../../base/text/errors.ts'
import { type Revision, StoreDamaged, StoreError, StoreFull } from '../store.ts'
import type { Broadcast, Failure, OpenReply, OpenRequest, Reply, Request } from './messages.ts'
import { type Thread, takeThread } from './thread-start.ts'

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** Handles a reply. Called synchronously when a reply arrives, in reply order. */
export interface Receiver {
  resolve(result: unknown): void
  reject(error: StoreError): void
}

export interface Listeners {
  /** Called when the thread has ended. */
  onEnd(error: StoreError): void
  /** Called for every failure after which the store can no longer write. */
  onFailed(error: StoreError): void
  /**
   * Called after a reply has been handled, if the reply reports that revisions before the given revision can no longer
   * be read.
   */
  onCut(revision: Revision): void
  /**
   * Called with the packed changes of any store on the file, before the replies that contain these changes. Only
   * connections of other threads use this callback.
   */
  onChanges?(changes: SharedArrayBuffer): void
}

interface Waiting {
  readonly receiver: Receiver
  readonly writes: boolean
}

export class Connection {
  readonly #port: MessagePort
  readonly #abandon: Thread['abandon']
  readonly #waiting = new Map<number, Waiting>()
  readonly #exited: Promise<void>
  #lastId = 0
  readonly #onFailed: (error: StoreError) => void
  readonly #onCut: (revision: Revision) => void
  readonly #onChanges: ((changes: SharedArrayBuffer) => void) | undefined
  #ended: StoreError | undefined
  #closing = false
  #portClosed = false

  /** Starts the thread, unless one was started in advance, and waits until it has opened the file. */
  static async open(
    { directory, backgroundCheck }: Pick<OpenRequest, 'directory' | 'backgroundCheck'>,
    listeners: Listeners,
  ): Promise<{ connection: Connection; state: OpenReply }> {
    const connection = new Connection(takeThread(), listeners)
    try {
      const state = await connection.request({ type: 'open', directory, backgroundCheck })
      return { connection, state: state as OpenReply }
    } catch (error) {
      await connection.#exited
      throw error
    }
  }

  /**
   * Connects another thread to the store's thread, over a port that `StoreHub` created. Resolves when the store's
   * thread has accepted the connection.
   */
  static async attach(port: MessagePort, listeners: Listeners): Promise<{ connection: Connection; state: OpenReply }> {
    const { promise: ended, resolve: abandon } = Promise.withResolvers<unknown>()
    port.once('close', () => abandon(undefined))
    const connection = new Connection({ port, ended, abandon }, listeners)
    const state = await new Promise((resolve, reject) => connection.#expect(0, { resolve, reject }, false))
    return { connection, state: state as OpenReply }
  }

  private constructor({ port, ended, abandon }: Thread, { onEnd, onFailed, onCut, onChanges }: Listeners) {
    this.#onFailed = onFailed
    this.#onCut = onCut
    this.#onChanges = onChanges
    this.#port = port
    this.#abandon = abandon
    this.#port.once('close', () => {
      this.#portClosed = true
    })
    this.#port.on('message', (reply: Reply | Broadcast) => this.#receive(reply))
    this.#exited = ended.then((cause) => {
      const error = this.#end(cause)
      // Notify the owner first, so that the owner already knows the reason when the requests are rejected.
      onEnd(error)
      if (!this.#closing) onFailed(error)
      this.#rejectWaiting(error)
    })
  }

  request(request: WithoutId<Request>): Promise<unknown> {
    return new Promise((resolve, reject) => this.send(request, [], { resolve, reject }))
  }

  send(request: WithoutId<Request>, transfer: (ArrayBuffer | MessagePort)[], receiver: Receiver): void {
    if (this.#ended) {
      receiver.reject(this.#ended)
      return
    }
    const id = ++this.#lastId
    this.#expect(id, receiver, request.type === 'commit')
    this.#port.postMessage({ ...request, id }, transfer)
  }

  /** Asks the thread to close the file, and waits until the thread has ended. */
  async close(): Promise<void> {
    this.#closing = true
    try {
      if (!this.#ended) await this.request({ type: 'close' })
    } finally {
      this.#port.close()
      await this.#exited
    }
  }

  /** Closes the connection of this store. The thread that owns the file continues to run. */
  async detach(): Promise<void> {
    this.#closing = true
    this.#port.close()
    await this.#exited
  }

  #expect(id: number, receiver: Receiver, writes: boolean): void {
    this.#waiting.set(id, { receiver, writes })
  }

  #receive(reply: Reply | Broadcast): void {
    if ('changes' in reply) {
      this.#onChanges?.(reply.changes)
      return
    }
    const receiver = this.#waiting.get(reply.id)?.receiver
    this.#waiting.delete(reply.id)
    if (!('failure' in reply)) {
      receiver?.resolve(reply.result)
      if (reply.cut !== undefined) this.#onCut(reply.cut)
      return
    }
    const error = toError(reply.failure)
    if (reply.failure.last) this.#abandon(error)
    if (reply.failure.kind === 'failed' || reply.failure.kind === 'damaged') this.#onFailed(error)
    receiver?.reject(error)
  }

  #end(cause: unknown): StoreError {
    // Reads the last messages of the thread. A closed port has already delivered its messages, so there is nothing left
    // to read.
    if (!this.#portClosed)
      for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port))
        this.#receive(next.message)
    const why = isError(cause) ? `: ${cause.message}` : ''
    const ended = new StoreError(`the store thread has exited${why}`, { cause })
    this.#ended = ended
    this.#port.close()
    return ended
  }

  #rejectWaiting(ended: StoreError): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { receiver, writes } of waiting)
      receiver.reject(writes ? new StoreError(ended.message, { cause: ended.cause, ambiguous: true }) : ended)
  }
}

function toError({ kind, message, ambiguous }: Failure): StoreError {
  if (kind === 'damaged') return new StoreDamaged(message, { ambiguous })
  return kind === 'full' ? new StoreFull(message) : new StoreError(message, { ambiguous })
}

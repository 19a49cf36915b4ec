/**
 * The embedded store in a thread that does not own the file. This store provides the same guarantees as `store.ts`,
 * over a port to the owner. There can be several such stores, each with its own port. `hub.ts` creates the ports and
 * owns the directory.
 *
 * The owner broadcasts every change of any store. This store appends the change to its log tail before a reply can
 * include it. A gap in the revisions ends the store. Another thread may have acknowledged a change that this thread has
 * not received yet. This store therefore reads the newest revision from memory that all threads share. That revision is
 * raised before any acknowledgement and can briefly be ahead of the tail.
 */
import type { MessagePort } from 'node:worker_threads'
import { readChanges } from '../packed-changes.ts'
import { SharedRevisions } from '../shared-revisions.ts'
import { type Batch, type Revision, StoreError, type WatchOptions } from '../store.ts'
import { Connection } from './connection.ts'
import { type EmbeddedOptions, EmbeddedStore } from './embedded-store.ts'
import type { SharedHistoryWindow } from './history-window.ts'
import type { OpenReply, PinReply } from './messages.ts'

/**
 * The data that a thread needs to open the store. `StoreHub.connect` creates the data and transfers it to the thread.
 */
export interface StorePort {
  readonly port: MessagePort
  readonly memory: SharedArrayBuffer
}

/** The embedded store in a thread that does not own the file. */
export class WorkerStore extends EmbeddedStore {
  readonly #shared: SharedRevisions

  static async open({ port, memory }: StorePort, options: EmbeddedOptions = {}): Promise<WorkerStore> {
    let store: WorkerStore | undefined
    const early: SharedArrayBuffer[] = []
    const { connection, state } = await Connection.attach(port, {
      onEnd: (error) => {
        if (store) store.end(error)
      },
      onFailed: (error) => {
        if (store) store.fail(error)
      },
      onCut: (revision) => {
        if (store) store.history.cutOff(revision)
      },
      onChanges: (changes) => (store ? store.#append(changes) : early.push(changes)),
    })
    store = new WorkerStore(connection, { state, shared: new SharedRevisions(memory) }, options)
    for (const changes of early) store.#append(changes)
    return store
  }

  private constructor(
    connection: Connection,
    { state, shared }: { state: OpenReply; shared: SharedRevisions },
    options: EmbeddedOptions,
  ) {
    super({ connection, state, shared: pinsOver(connection, shared) }, options)
    this.#shared = shared
  }

  override async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    this.tail.forget(this.#shared.oldest)
    yield* super.watch(options)
  }

  protected newest(): Revision {
    return this.#shared.revision
  }

  /** Does nothing, because the changes have already arrived as a broadcast. */
  protected onCommitted(): void {}

  /** Does nothing, because compaction and expiry run in the thread that owns the file. */
  protected stopUpkeep(): void {}

  protected async disconnect(): Promise<void> {
    await this.connection.detach()
  }

  /**
   * Appends broadcast changes to the log tail. Revisions have no gaps: if a revision is missing, a message was lost and
   * the store cannot serve any later change.
   */
  #append(shared: SharedArrayBuffer): void {
    const changes = readChanges(shared)
    const next = this.tail.revision + 1
    if (changes[0]?.revision === next) this.tail.append(changes)
    else this.#lose(new StoreError(`the worker missed the change at revision ${next}`))
  }

  #lose(error: StoreError): void {
    this.end(error)
    this.fail(error)
  }
}

/**
 * Protects revisions from compaction while this thread reads them. Compaction runs in the thread that owns the file.
 */
function pinsOver(connection: Connection, shared: SharedRevisions): SharedHistoryWindow {
  return {
    get oldest() {
      return shared.oldest
    },
    get cut() {
      return shared.cut
    },
    get floor() {
      return shared.floor
    },
    pin: async (revision, reach) => ((await connection.request({ type: 'pin', revision, reach })) as PinReply).readable,
    unpin: (revision, reach) => connection.send({ type: 'unpin', revision, reach }, [], ignored),
  }
}

/**
 * Handlers for the replies to unpin requests. The outcome of an unpin request does not matter. If the store's thread
 * has ended, its pins are gone.
 */
const ignored = { resolve: () => {}, reject: () => {} }

/**
 * The embedded store in a thread that does not own the file: the same promises as `store.ts`, over a port to the owner.
 * There can be several such stores, each with its own port. `hub.ts` creates the ports and owns the directory.
 *
 * Every change of any store arrives as a broadcast and is appended to the log tail before a reply can show it. A gap
 * ends the store. Another thread may have acknowledged a change that this thread has not received yet. So the newest
 * revision is read from memory that all threads share. That revision is raised before any acknowledgement and can
 * briefly be ahead of the tail.
 */
import type { MessagePort } from 'node:worker_threads'
import { readChanges } from '../packed-changes.ts'
import { SharedRevisions } from '../shared-revisions.ts'
import { type Batch, type Revision, StoreError, type WatchOptions } from '../store.ts'
import { Connection } from './connection.ts'
import { type EmbeddedOptions, EmbeddedStore } from './embedded-store.ts'
import type { SharedHistoryWindow } from './history-window.ts'
import type { OpenReply, PinReply } from './messages.ts'

/** What a thread needs to open the store. Created by `StoreHub.connect` and transferred to the thread. */
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

  /** No action: the changes have arrived as a broadcast. */
  protected onCommitted(): void {}

  /** No action: the owner of the file runs the upkeep. */
  protected stopUpkeep(): void {}

  protected async disconnect(): Promise<void> {
    await this.connection.detach()
  }

  /**
   * Appends broadcast changes. Revisions have no gaps here: if one is missing, a message was lost and no later change
   * can be served.
   */
  #append(shared: SharedArrayBuffer): void {
    const changes = readChanges(shared)
    const next = this.tail.revision + 1
    if (changes[0]?.revision === next) this.tail.append(changes)
    else this.#lose(new StoreError(`worker missed change ${next}`))
  }

  #lose(error: StoreError): void {
    this.end(error)
    this.fail(error)
  }
}

/** Pins the revisions that this thread reads in the thread that owns the file, which runs compaction. */
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

/** Ignores the reply: if the thread has ended, its pins no longer matter. */
const ignored = { resolve: () => {}, reject: () => {} }

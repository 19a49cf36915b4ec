/**
 * The embedded store as another thread sees it: the same promises as `store.ts`, over a port to the thread that owns the
 * file. There may be several, each with its own port; `hub.ts` makes the ports, and owns the directory.
 *
 * Every change of any of them comes as a broadcast and joins the tail before an answer can show it; a gap is the end. What
 * this thread has not received yet may be acknowledged already to a caller of another: so the newest revision is read from
 * memory that all threads share, which is raised before any acknowledgement, and may be ahead of the tail for a moment.
 */
import type { MessagePort } from 'node:worker_threads'
import { readChanges } from '../packed-changes.ts'
import { SharedRevisions } from '../shared-revisions.ts'
import { type Batch, type Revision, StoreError, type WatchOptions } from '../store.ts'
import { Connection } from './connection.ts'
import { type EmbeddedOptions, EmbeddedStore } from './embedded-store.ts'
import type { SharedHistory } from './history.ts'
import type { OpenReply, PinReply } from './messages.ts'

/** What a thread needs to open the store: of `StoreHub.connect`, to be transferred to it. */
export interface StorePort {
  readonly port: MessagePort
  readonly memory: SharedArrayBuffer
}

/** The embedded store, from a thread that does not own it. */
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

  /** They have come as a broadcast. */
  protected onCommitted(): void {}

  /** That is for the owner of the file. */
  protected stopUpkeep(): void {}

  protected async disconnect(): Promise<void> {
    await this.connection.detach()
  }

  /** Revisions have no gaps here: one that is missing was lost on its way, and nothing after it may be served. */
  #append(shared: SharedArrayBuffer): void {
    const changes = readChanges(shared)
    const next = this.tail.revision + 1
    if (changes[0]?.revision === next) this.tail.append(changes)
    else this.#lose(new StoreError(`this worker was not told of the change ${next}`))
  }

  #lose(error: StoreError): void {
    this.end(error)
    this.fail(error)
  }
}

/** What this thread reads is pinned where compaction happens: in the thread that owns the file. */
function pinsOver(connection: Connection, shared: SharedRevisions): SharedHistory {
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

/** A store whose thread has ended keeps nothing from being forgotten. */
const ignored = { resolve: () => {}, reject: () => {} }

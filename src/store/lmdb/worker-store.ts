/**
 * The embedded store as another thread sees it: the same promises as `store.ts`, over a port to the thread that owns the
 * file. There may be several, each with its own port; `hub.ts` makes the ports, and owns the directory.
 *
 * Every change of any of them comes as a broadcast and joins the tail before an answer can show it; a gap is the end. What this thread has
 * not received yet may be acknowledged already to a caller of another: so `revision` is read from memory that all threads
 * share, which is raised before any acknowledgement, and may be ahead of the tail for a moment.
 */
import type { MessagePort } from 'node:worker_threads'
import type { OnCapacity } from '../fullness.ts'
import { assertKey, assertWrite } from '../key.ts'
import { readChanges } from '../packed-changes.ts'
import { SharedRevisions } from '../shared-revisions.ts'
import {
  type Batch,
  type Committed,
  type Conflict,
  type Entry,
  type Journal,
  type Key,
  type ListRange,
  type Retention,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
  type Store,
  StoreError,
  type WatchOptions,
  type Write,
} from '../store.ts'
import { Tail } from '../tail.ts'
import { assertSize, Commits, dueTime, withTime } from './commits.ts'
import { Connection } from './connection.ts'
import { History, type SharedHistory } from './history.ts'
import { openJournal } from './journal.ts'
import type { OpenReply, PinReply, Reach } from './messages.ts'
import { type StoreClock, storeClock } from './owned.ts'
import { Reader } from './reader.ts'

/** What a thread needs to open the store: of `StoreHub.connect`, to be transferred to it. */
export interface StorePort {
  readonly port: MessagePort
  readonly memory: SharedArrayBuffer
}

/** What the store of a worker reports, and its clock. */
export interface WorkerStoreOptions {
  readonly clock?: StoreClock
  /** How long the journal is kept: the same for all threads. There is none if absent. */
  readonly retention?: Retention | undefined
  readonly onWarning?: (message: string) => void
  readonly onUpkeepError?: (error: Error) => void
  readonly onCapacity?: OnCapacity
  /** Called once when nothing can be written any more; reads may go on. */
  readonly onFailed?: (error: StoreError) => void
}

/** The embedded store, from a thread that does not own it. */
export class WorkerStore implements Store {
  readonly #connection: Connection
  readonly #shared: SharedRevisions
  readonly #tail: Tail
  readonly #history: History
  readonly #reader: Reader
  readonly #commits: Commits
  readonly #options: WorkerStoreOptions
  readonly #clock: StoreClock
  /** Undefined where none is kept. */
  readonly journal: Journal | undefined
  #closing: Promise<void> | undefined
  #failed = false

  static async open({ port, memory }: StorePort, options: WorkerStoreOptions = {}): Promise<WorkerStore> {
    let store: WorkerStore | undefined
    const early: SharedArrayBuffer[] = []
    const { connection, state } = await Connection.attach(port, {
      onEnd: (error) => {
        if (store) store.#tail.end(error)
      },
      onFailed: (error) => {
        if (store) store.#fail(error)
      },
      onCut: (revision) => {
        if (store) store.#history.cutOff(revision)
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
    options: WorkerStoreOptions,
  ) {
    this.#connection = connection
    this.#shared = shared
    this.#options = options
    this.#clock = options.clock ?? storeClock
    this.#tail = new Tail(state.revision)
    this.#history = new History({
      ...{ connection, tail: this.#tail, clock: this.#clock },
      ...{ oldest: state.oldest, floor: state.floor, retention: options.retention },
      shared: pinsOver(connection, shared),
      onWarning: options.onWarning,
      onError: (error) => this.#report(error),
    })
    this.#reader = new Reader(connection, this.#history)
    this.journal = openJournal(options.retention, {
      ...{ connection, history: this.#history },
      list: (range) => this.#listAt(range.revision, range, 'journal'),
    })
    this.#commits = new Commits(connection, {
      // They have come as a broadcast.
      onCommitted: () => {},
      giveUpHistory: (part) => this.#history.giveUp(part),
      onCapacity: options.onCapacity,
    })
  }

  async commit(write: Write): Promise<Committed | Conflict> {
    this.#assertOpen()
    assertWrite(write)
    assertSize(write)
    return this.#commits.add(this.journal ? withTime(write, this.#clock) : write, dueTime(write, this.#clock))
  }

  revision(): Revision {
    this.#assertOpen()
    return this.#shared.revision
  }

  async get(key: Key): Promise<Entry | undefined> {
    this.#assertOpen()
    assertKey(key)
    return await this.#reader.get(key)
  }

  async list(range: ListRange): Promise<Snapshot> {
    this.#assertOpen()
    const { revision } = range
    if (revision !== undefined) return await this.#listAt(revision, range)
    const list = () => this.#listAt(this.#shared.revision, range)
    const whenGone = (again: () => Promise<Snapshot>) => (error: unknown) => {
      if (error instanceof RevisionGone) return again()
      throw error
    }
    // Deletes on a full disk may cut off history under it: then those of this thread wait for it.
    const alone = () => this.#commits.pause(list)
    return await list().catch(whenGone(alone)).catch(whenGone(alone))
  }

  async #listAt(at: Revision, range: ListRange, reach: Reach = 'history'): Promise<Snapshot> {
    const { revision } = this.#shared
    if (at > revision) throw new RevisionAhead(at, revision)
    return await this.#reader.listAt(at, range, reach)
  }

  async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    this.#assertOpen()
    this.#tail.forget(this.#shared.oldest)
    yield* this.#tail.follow(options, (after, limit) => this.#reader.log(after, limit))
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    const current = this.#shared.revision
    if (revision > current) throw new RevisionAhead(revision, current)
    await this.#history.compact(revision)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#tail.end(new StoreError('the store is closed'))
    const stopped = this.#history.stop()
    await this.#commits.idle()
    await stopped
    await this.#connection.detach()
  }

  /** Revisions have no gaps here: one that is missing was lost on its way, and nothing after it may be served. */
  #append(shared: SharedArrayBuffer): void {
    const changes = readChanges(shared)
    const next = this.#tail.revision + 1
    if (changes[0]?.revision === next) this.#tail.append(changes)
    else this.#lose(new StoreError(`this worker was not told of the change ${next}`))
  }

  #lose(error: StoreError): void {
    this.#tail.end(error)
    this.#fail(error)
  }

  #fail(error: StoreError): void {
    if (this.#failed) return
    this.#failed = true
    this.#options.onFailed?.(error)
  }

  #report(error: Error): void {
    if (!this.#closing && !this.#failed) this.#options.onUpkeepError?.(error)
  }

  #assertOpen(): void {
    if (this.#closing) throw new StoreError('the store is closed')
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

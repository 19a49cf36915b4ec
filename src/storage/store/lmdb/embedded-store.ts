/**
 * The interface through which callers use the embedded store, over a connection to the thread that owns the file.
 * Commits of many callers share one transaction and one sync. A list first chooses its revision. It then reads slices
 * at that revision, which is protected from compaction (`history-window.ts`).
 *
 * There are two implementations: the store of the only thread that uses the file (`store.ts`), and the stores of
 * several threads (`worker-store.ts`). The implementations differ in how they determine the newest revision, how
 * changes reach the log tail, and how they close.
 */
import type { OnCapacity } from '../fullness.ts'
import { assertKey, assertWrite } from '../key.ts'
import { LogTail } from '../log-tail.ts'
import {
  type Batch,
  type Change,
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
import { assertSize, Commits, dueTime, withTime } from './commits.ts'
import type { Connection } from './connection.ts'
import { HistoryWindow, type SharedHistoryWindow } from './history-window.ts'
import { openJournal } from './journal.ts'
import type { OpenReply, Reach } from './messages.ts'
import { type StoreClock, storeClock } from './owned-directory.ts'
import { Reader } from './reader.ts'

/** Settings of the embedded store: its clock, retention limits and callbacks. */
export interface EmbeddedOptions {
  readonly clock?: StoreClock
  /** Retention limits of the journal, the same for all threads. If undefined, the store has no journal. */
  readonly retention?: Retention | undefined
  readonly onWarning?: (message: string) => void
  /**
   * Called when periodic work such as compaction fails. The work is retried. By default, the error becomes a process
   * warning.
   */
  readonly onUpkeepError?: (error: Error) => void
  readonly onCapacity?: OnCapacity
  /** Called once, when the store can no longer write. Reads may still work. */
  readonly onFailed?: (error: StoreError) => void
}

interface EmbeddedParts {
  readonly connection: Connection
  readonly state: OpenReply
  /** The history window that all threads share. Undefined if a single thread uses the file. */
  readonly shared?: SharedHistoryWindow
}

export abstract class EmbeddedStore implements Store {
  protected readonly connection: Connection
  protected readonly tail: LogTail
  protected readonly history: HistoryWindow
  protected readonly clock: StoreClock
  readonly #options: EmbeddedOptions
  readonly #reader: Reader
  readonly #commits: Commits
  /** The journal. Undefined if the store has no journal. */
  readonly journal: Journal | undefined
  #closing: Promise<void> | undefined
  #failed = false

  protected constructor({ connection, state, ...shared }: EmbeddedParts, options: EmbeddedOptions) {
    this.connection = connection
    this.#options = options
    this.clock = options.clock ?? storeClock
    this.tail = new LogTail(state.revision)
    this.history = new HistoryWindow({
      connection,
      tail: this.tail,
      clock: this.clock,
      ...shared,
      oldest: state.oldest,
      floor: state.floor,
      retention: options.retention,
      onWarning: options.onWarning,
      onError: (error) => this.report(error),
    })
    this.#reader = new Reader(connection, this.history)
    this.journal = openJournal(options.retention, {
      connection,
      history: this.history,
      list: (range) => this.#listAt(range.revision, range, 'journal'),
    })
    this.#commits = new Commits(connection, {
      onCommitted: (changes) => this.onCommitted(changes),
      giveUpHistory: (part) => this.history.giveUp(part),
      onCapacity: options.onCapacity,
    })
  }

  /** Returns the newest revision in the file. */
  protected abstract newest(): Revision
  /** Handles the changes that this store has committed. */
  protected abstract onCommitted(changes: readonly Change[]): void
  /** Stops the periodic work of the store, such as compaction. */
  protected abstract stopUpkeep(): void
  /** Closes the connection to the thread that owns the file, and releases its resources. */
  protected abstract disconnect(): Promise<void>

  async commit(write: Write): Promise<Committed | Conflict> {
    this.#assertOpen()
    assertWrite(write)
    assertSize(write)
    return this.#commits.add(this.journal ? withTime(write, this.clock) : write, dueTime(write, this.clock))
  }

  revision(): Revision {
    this.#assertOpen()
    return this.newest()
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
    const list = () => this.#listAt(this.newest(), range)
    const whenGone = (again: () => Promise<Snapshot>) => (error: unknown) => {
      if (error instanceof RevisionGone) return again()
      throw error
    }
    // If a delete on a full disk truncates the history window, the list fails. Retry the list while this store's
    // commits wait. Deletions of expired keys continue.
    const alone = () => this.#commits.pause(list)
    return await list().catch(whenGone(alone)).catch(whenGone(alone))
  }

  async #listAt(at: Revision, range: ListRange, reach: Reach = 'history'): Promise<Snapshot> {
    this.#assertReached(at)
    return await this.#reader.listAt(at, range, reach)
  }

  async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    this.#assertOpen()
    yield* this.tail.follow(options, (after, limit) => this.#reader.log(after, limit))
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    this.#assertReached(revision)
    await this.history.compact(revision)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.end(new StoreError('the store is closed'))
    const stopped = this.history.stop()
    try {
      await this.#commits.idle()
      await stopped
    } finally {
      await this.disconnect()
    }
  }

  /** Ends the store. Its readers receive no more changes. */
  protected end(error: StoreError): void {
    this.stopUpkeep()
    this.tail.end(error)
  }

  /** Reports that the store can no longer write. */
  protected fail(error: StoreError): void {
    if (this.#failed) return
    this.#failed = true
    this.stopUpkeep()
    this.#options.onFailed?.(error)
  }

  protected report(error: Error): void {
    if (this.#closing || this.#failed) return
    const report = this.#options.onUpkeepError ?? ((failure) => process.emitWarning(failure))
    report(error)
  }

  #assertOpen(): void {
    if (this.#closing) throw new StoreError('the store is closed')
  }

  #assertReached(revision: Revision): void {
    const newest = this.newest()
    if (revision > newest) throw new RevisionAhead(revision, newest)
  }
}

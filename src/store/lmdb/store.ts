/**
 * The embedded store: one LMDB file in a data directory that belongs to this process alone.
 *
 * One thread owns the file; this side never opens it. Commits of many callers share one transaction and one sync. The
 * newest changes are kept here (Tail) for watches; since no other process writes, the tail's revision is the store's.
 * A list first fixes its revision and then reads slices at it, pinned against compaction (`history.ts`). Lifetimes count
 * by the wall clock, which goes on while nobody runs; every second the thread is asked to delete what is due.
 */
import type { OnCapacity } from '../fullness.ts'
import { assertKey, assertWrite } from '../key.ts'
import {
  type Batch,
  type Committed,
  type Conflict,
  type Entry,
  type Journal,
  type Key,
  type ListRange,
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
import type { Connection } from './connection.ts'
import { Expiry, expiryTickMs } from './expiry.ts'
import { History } from './history.ts'
import { openJournal } from './journal.ts'
import type { Reach } from './messages.ts'
import { keepHistory, type Owned, type OwnedOptions, openOwned, type StoreClock, storeClock } from './owned.ts'
import { Reader } from './reader.ts'

export interface LmdbOptions extends OwnedOptions {
  readonly onCapacity?: OnCapacity
}

export class LmdbStore implements Store {
  readonly #connection: Connection
  readonly #release: () => void
  readonly #tail: Tail
  readonly #commits: Commits
  readonly #options: LmdbOptions
  readonly #clock: StoreClock
  readonly #history: History
  readonly #reader: Reader
  readonly #expiry: Expiry
  /** Undefined where none is kept. */
  readonly journal: Journal | undefined
  #stopTimers: (() => void)[] = []
  #closing: Promise<void> | undefined
  #failed = false

  static async open(options: LmdbOptions): Promise<LmdbStore> {
    let store: LmdbStore | undefined
    const opened = await openOwned(options, {
      onEnd: (error) => {
        if (store) store.#end(error)
      },
      onFailed: (error) => {
        if (store) store.#fail(error)
      },
      onCut: (revision) => {
        if (store) store.#history.cutOff(revision)
      },
    })
    store = new LmdbStore(opened, options)
    store.#startTimers()
    return store
  }

  private constructor({ connection, state, release }: Owned, options: LmdbOptions) {
    this.#connection = connection
    this.#release = release
    this.#options = options
    this.#clock = options.clock ?? storeClock
    this.#tail = new Tail(state.revision)
    this.#history = new History({
      ...{ connection, tail: this.#tail, clock: this.#clock },
      ...{ oldest: state.oldest, floor: state.floor, retention: options.retention },
      onWarning: options.onWarning,
      onError: (error) => this.#report(error),
    })
    this.#reader = new Reader(connection, this.#history)
    this.#expiry = new Expiry({
      connection,
      now: () => this.#clock.now(),
      onDeleted: (changes) => this.#tail.append(changes),
      onError: (error) => this.#report(error),
    })
    this.journal = openJournal(options.retention, {
      ...{ connection, history: this.#history },
      list: (range) => this.#listAt(range.revision, range, 'journal'),
    })
    this.#commits = new Commits(connection, {
      onCommitted: (changes) => this.#tail.append(changes),
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
    return this.#tail.revision
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
    const list = () => this.#listAt(this.#tail.revision, range)
    const whenGone = (again: () => Promise<Snapshot>) => (error: unknown) => {
      if (error instanceof RevisionGone) return again()
      throw error
    }
    // Deletes on a full disk may cut off history under it: then they wait for it, but for those of expiry.
    const alone = () => this.#commits.pause(list)
    return await list().catch(whenGone(alone)).catch(whenGone(alone))
  }

  async #listAt(at: Revision, range: ListRange, reach: Reach = 'history'): Promise<Snapshot> {
    if (at > this.#tail.revision) throw new RevisionAhead(at, this.#tail.revision)
    return await this.#reader.listAt(at, range, reach)
  }

  async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    this.#assertOpen()
    yield* this.#tail.follow(options, (after, limit) => this.#reader.log(after, limit))
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    if (revision > this.#tail.revision) throw new RevisionAhead(revision, this.#tail.revision)
    await this.#history.compact(revision)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #end(error: StoreError): void {
    this.#expiry.stop()
    for (const stop of this.#stopTimers.splice(0)) stop()
    this.#tail.end(error)
  }

  #fail(error: StoreError): void {
    if (this.#failed) return
    this.#failed = true
    for (const stop of this.#stopTimers.splice(0)) stop()
    this.#options.onFailed?.(error)
  }

  async #close(): Promise<void> {
    this.#end(new StoreError('the store is closed'))
    const stopped = this.#history.stop()
    try {
      await this.#commits.idle()
      await stopped
      await this.#connection.close()
    } finally {
      this.#release()
    }
  }

  #startTimers(): void {
    this.#stopTimers = [
      keepHistory(this.#history, this.#clock, this.#options),
      this.#clock.every(expiryTickMs, () => this.#expiry.run()),
    ]
  }

  #report(error: Error): void {
    if (this.#closing || this.#failed) return
    const report = this.#options.onUpkeepError ?? ((failure) => process.emitWarning(failure))
    report(error)
  }

  #assertOpen(): void {
    if (this.#closing) throw new StoreError('the store is closed')
  }
}

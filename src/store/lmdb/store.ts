/**
 * The embedded store: one LMDB file in a data directory that belongs to this process alone.
 *
 * One thread owns the file; this side never opens it. Commits of many callers share one transaction and one sync. The
 * newest changes are kept here (Tail) for watches; since no other process writes, the tail's revision is the store's.
 * A list first fixes its revision and then reads slices at it, pinned against compaction (`history.ts`). Lifetimes count
 * by the wall clock, which goes on while nobody runs; every second the thread is asked to delete what is due.
 */
import { type Clock, systemClock } from '../../base/clock.ts'
import type { OnCapacity } from '../fullness.ts'
import { assertKey, assertWrite } from '../key.ts'
import {
  type Batch,
  type Change,
  type Committed,
  type Conflict,
  type Entry,
  type Key,
  type ListRange,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
  type Store,
  StoreError,
  ValueTooLarge,
  type WatchOptions,
  type Write,
} from '../store.ts'
import { Tail } from '../tail.ts'
import { claimDirectory } from './claim.ts'
import { Commits } from './commits.ts'
import { Connection } from './connection.ts'
import { checkDirectory, makeDirectory } from './directory.ts'
import { History } from './history.ts'
import type { CountReply, ListReply, OpenReply, SliceRange } from './messages.ts'
import { Unpacker } from './pack.ts'

/** `every` runs a function again and again, without keeping the process alive, until stopped. */
export interface StoreClock extends Clock {
  every(milliseconds: number, run: () => void): () => void
}

export interface LmdbOptions {
  readonly directory: string
  /** How long history is kept at least; five minutes if absent. */
  readonly historyMs?: number
  readonly clock?: StoreClock
  /** Called when compaction or expiry fails; they are tried again. A warning of the process if absent. */
  readonly onUpkeepError?: (error: Error) => void
  /** Called with what its owner should take care of while the store works on: a disk that is full. */
  readonly onWarning?: (message: string) => void
  readonly onCapacity?: OnCapacity
  /**
   * Called once when nothing can be written any more: the disk refused a write or a sync, or the thread is gone. Reads
   * may go on. Only opening it again, after a look at the disk, shows what is there.
   */
  readonly onFailed?: (error: StoreError) => void
}

/** The largest value: lmdb takes any, but a batch in memory is bounded by it. */
const maxValueBytes = 8 * 1024 * 1024

const defaultHistoryMs = 5 * 60 * 1000
/** History is kept for up to one part in this many longer than asked. */
const marksPerHistory = 20
const expiryTickMs = 1000

export class LmdbStore implements Store {
  readonly #connection: Connection
  readonly #release: () => void
  readonly #tail: Tail
  readonly #commits: Commits
  readonly #options: LmdbOptions
  readonly #clock: StoreClock
  readonly #history: History
  #expiring = false
  #expiryFailure: string | undefined
  #stopTimers: (() => void)[] = []
  #closing: Promise<void> | undefined
  #failed = false

  static async open(options: LmdbOptions): Promise<LmdbStore> {
    await makeDirectory(options.directory)
    const release = await claimDirectory(options.directory)
    let store: LmdbStore | undefined
    try {
      const warning = await checkDirectory(options.directory)
      if (warning !== undefined) options.onWarning?.(warning)
      const { connection, state } = await Connection.open(options.directory, {
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
      store = new LmdbStore(connection, state, options, release)
      store.#startTimers()
      return store
    } catch (error) {
      release()
      throw error
    }
  }

  private constructor(connection: Connection, state: OpenReply, options: LmdbOptions, release: () => void) {
    this.#connection = connection
    this.#release = release
    this.#options = options
    this.#clock = options.clock ?? storeClock
    this.#tail = new Tail(state.revision)
    this.#history = new History({
      connection,
      tail: this.#tail,
      oldest: state.oldest,
      clock: this.#clock,
      onWarning: options.onWarning,
      onError: (error) => this.#report(error),
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
    const size = write.value?.length ?? 0
    if (size > maxValueBytes) throw new ValueTooLarge(size, maxValueBytes)
    const { lifetimeSeconds } = write
    return this.#commits.add(write, lifetimeSeconds === undefined ? 0 : this.#clock.now() + 1000 * lifetimeSeconds)
  }

  revision(): Revision {
    this.#assertOpen()
    return this.#tail.revision
  }

  async get(key: Key): Promise<Entry | undefined> {
    this.#assertOpen()
    assertKey(key)
    const reply = new Unpacker((await this.#connection.request({ type: 'get', key })) as ArrayBuffer)
    return reply.done ? undefined : { key, revision: reply.number(), value: reply.bytes() }
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

  async #listAt(
    at: Revision,
    { prefix, after, limit = Number.POSITIVE_INFINITY, count = true }: ListRange,
  ): Promise<Snapshot> {
    if (at > this.#tail.revision) throw new RevisionAhead(at, this.#tail.revision)
    return await this.#history.pinned(at, async () => {
      const { entries, resume } = await this.#readEntries({ prefix, after, revision: at }, limit)
      const remaining = resume === undefined ? 0 : count ? await this.#countEntries(resume) : 1
      return { revision: at, entries, remaining }
    })
  }

  async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    this.#assertOpen()
    yield* this.#tail.follow(options, (after, limit) => this.#readLog(after, limit))
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

  async #readEntries(range: SliceRange, limit: number): Promise<{ entries: Entry[]; resume: SliceRange | undefined }> {
    const entries: Entry[] = []
    let rest: SliceRange | undefined = range
    while (rest && entries.length < limit) {
      const request = { type: 'list', range: rest, limit: limit - entries.length } as const
      const reply = (await this.#connection.request(request)) as ListReply
      this.#history.assertReadable(range.revision)
      readEntries(new Unpacker(reply.entries), entries)
      rest = reply.resume === undefined ? undefined : { ...range, after: reply.resume }
    }
    return { entries, resume: rest }
  }

  async #countEntries(range: SliceRange): Promise<number> {
    let count = 0
    let rest: SliceRange | undefined = range
    while (rest) {
      const reply = (await this.#connection.request({ type: 'count', range: rest })) as CountReply
      this.#history.assertReadable(range.revision)
      count += reply.count
      rest = reply.resume === undefined ? undefined : { ...range, after: reply.resume }
    }
    return count
  }

  async #readLog(after: Revision, limit: number): Promise<readonly Change[]> {
    this.#history.assertKept(after)
    const reply = (await this.#connection.request({ type: 'log', after, limit })) as ArrayBuffer
    // Compaction may have passed while the thread read.
    this.#history.assertKept(after)
    return readChanges(new Unpacker(reply))
  }

  #startTimers(): void {
    this.#stopTimers = [this.#keepHistory(), this.#clock.every(expiryTickMs, () => this.#expire())]
  }

  #keepHistory(): () => void {
    const { historyMs = defaultHistoryMs } = this.#options
    const keep = () => this.#history.keep(historyMs)
    keep()
    return this.#clock.every(Math.max(10, historyMs / marksPerHistory), keep)
  }

  /** Deletes what is due, a step after the other. */
  #expire(): void {
    if (this.#expiring || this.#closing) return
    this.#expiring = true
    this.#connection.send({ type: 'expire', now: this.#clock.now() }, [], {
      resolve: (reply) => this.#expired(reply as ArrayBuffer | undefined),
      reject: (error) => this.#failedToExpire(error),
    })
  }

  /** Like commits, what was deleted joins the tail before anything that the thread answers later is seen. */
  #expired(changes: ArrayBuffer | undefined): void {
    this.#expiring = false
    this.#expiryFailure = undefined
    if (changes === undefined) return
    this.#tail.append(readChanges(new Unpacker(changes)))
    this.#expire()
  }

  /** Tried again at the next tick; the same failure is reported once. */
  #failedToExpire(error: StoreError): void {
    this.#expiring = false
    if (error.message !== this.#expiryFailure) this.#report(error)
    this.#expiryFailure = error.message
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

const storeClock: StoreClock = {
  ...systemClock,
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    timer.unref()
    return () => clearInterval(timer)
  },
}

function readEntries(packed: Unpacker, entries: Entry[]): void {
  while (!packed.done) {
    const revision = packed.number()
    entries.push({ key: packed.key(), revision, value: packed.bytes() })
  }
}

function readChanges(packed: Unpacker): Change[] {
  const changes: Change[] = []
  while (!packed.done) changes.push(readChange(packed))
  return changes
}

function readChange(packed: Unpacker): Change {
  const revision = packed.number()
  const deletes = packed.number() === 1
  const key = packed.key()
  const held = packed.number()
  const previous = held === 0 ? undefined : { key, revision: held, value: packed.bytes() }
  const value = deletes ? undefined : packed.bytes()
  return { key, revision, value, previous }
}

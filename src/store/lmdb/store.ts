/**
 * The embedded store: one LMDB file in a data directory that belongs to this process alone.
 *
 * One thread owns the file; this side never opens it. Commits of many callers share one transaction and one sync. The
 * newest changes are kept here (Tail) for watches; since no other process writes, the tail's revision is the store's.
 * A list first fixes its revision and then reads slices at it, pinned against compaction. History is kept for
 * `historyMs`, and after a restart for as long again. Lifetimes count by the wall clock, which goes on while nobody
 * runs; every second the thread is asked to delete what is due.
 */
import { type Clock, systemClock } from '../../base/clock.ts'
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
import { TimeMarks } from './marks.ts'
import type { CompactReply, CountReply, ListReply, OpenReply, SliceRange } from './messages.ts'
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
  readonly #pins = new Map<Revision, number>()
  #oldest: Revision
  #sweep: Promise<void> = Promise.resolve()
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
    this.#oldest = state.oldest
    this.#tail = new Tail(state.revision)
    this.#commits = new Commits(connection, {
      onCommitted: (changes) => this.#tail.append(changes),
      forgetHistory: () => this.#forgetHistory(),
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

  async list({
    prefix,
    after,
    limit = Number.POSITIVE_INFINITY,
    revision,
    count = true,
  }: ListRange): Promise<Snapshot> {
    this.#assertOpen()
    const at = revision ?? this.#tail.revision
    if (at > this.#tail.revision) throw new RevisionAhead(at, this.#tail.revision)
    this.#assertKept(at)
    this.#pin(at)
    try {
      const { entries, resume } = await this.#readEntries({ prefix, after, revision: at }, limit)
      const remaining = resume === undefined ? 0 : count ? await this.#countEntries(resume) : 1
      return { revision: at, entries, remaining }
    } finally {
      this.#unpin(at)
    }
  }

  async *watch(options: WatchOptions): AsyncGenerator<Batch> {
    this.#assertOpen()
    yield* this.#tail.follow(options, (after, limit) => this.#readLog(after, limit))
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    if (revision > this.#tail.revision) throw new RevisionAhead(revision, this.#tail.revision)
    if (revision <= this.#oldest) return
    this.#oldest = revision
    this.#tail.forget(revision)
    const sweep = this.#sweep.then(() => this.#sweepOut())
    // The caller gets a failure; the next compaction only waits for this one.
    this.#sweep = sweep.catch(() => {})
    await sweep
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
    try {
      await this.#commits.idle()
      await this.#sweep
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
      count += reply.count
      rest = reply.resume === undefined ? undefined : { ...range, after: reply.resume }
    }
    return count
  }

  async #readLog(after: Revision, limit: number): Promise<readonly Change[]> {
    this.#assertKept(after)
    const reply = (await this.#connection.request({ type: 'log', after, limit })) as ArrayBuffer
    // Compaction may have passed while the thread read.
    this.#assertKept(after)
    return readChanges(new Unpacker(reply))
  }

  #startTimers(): void {
    this.#stopTimers = [this.#keepHistory(), this.#clock.every(expiryTickMs, () => this.#expire())]
  }

  #keepHistory(): () => void {
    const { historyMs = defaultHistoryMs } = this.#options
    const clock = this.#clock
    const marks = new TimeMarks()
    const mark = () => marks.add(clock.monotonic(), this.#tail.revision)
    mark()
    return clock.every(Math.max(10, historyMs / marksPerHistory), () => {
      mark()
      const target = marks.reachedBy(clock.monotonic() - historyMs)
      if (target !== undefined) this.compact(target).catch((error: Error) => this.#report(error))
    })
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

  /** Deletes what is older than `#oldest` and read by nobody, in steps. */
  async #sweepOut(): Promise<void> {
    for (let more = true; more && !this.#closing; ) {
      const upTo = Math.min(this.#oldest, ...this.#pins.keys())
      const reply = await this.#connection.request({ type: 'compact', oldest: this.#oldest, upTo })
      more = (reply as CompactReply).more
    }
  }

  /** On a full disk: what is deleted is more than what could be read back of the past. */
  async #forgetHistory(): Promise<void> {
    if (!this.#closing) await this.compact(this.#tail.revision).catch((error: Error) => this.#report(error))
  }

  #pin(revision: Revision): void {
    this.#pins.set(revision, (this.#pins.get(revision) ?? 0) + 1)
  }

  #unpin(revision: Revision): void {
    const readers = this.#pins.get(revision)! - 1
    if (readers === 0) this.#pins.delete(revision)
    else this.#pins.set(revision, readers)
  }

  #assertKept(revision: Revision): void {
    if (revision < this.#oldest) throw new RevisionGone(revision, this.#oldest)
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

/**
 * Implements the store contract on etcd v3 until etcd goes back in time.
 *
 * A commit is a transaction on one key (see commits.ts). Watchers read the log tail, which one change stream fills. A
 * revision is etcd's revision plus an offset, which a note in the store records. Lifetimes are etcd leases (see
 * lease.ts).
 *
 * etcd counts every write of the cluster, including writes to keys outside our prefix, which our watch does not report.
 * A caller that took the revision of such a write for the current revision and waited until a watch reached it would
 * wait forever. The results of `revision()` and `list()` are therefore *settled*: the change stream has delivered all
 * changes up to them. If none of our keys changed at that revision, the result is the revision of our last change
 * before it, at which the state was the same. If the change stream does not reach a revision that etcd returned,
 * another client has written. In that case, the server makes a progress write, which puts a note under the prefix. The
 * progress write has a later revision, so the change streams of all servers pass the revision that etcd returned. A
 * server that has just opened the store does not know the last change and returns etcd's revision. The other servers
 * pass that revision when they determine their own.
 *
 *   etcd:  7 ours, 8 foreign, 9 foreign     stream: 7        lookup returns 9, stream stays at 7
 *          progress write at 10             stream: 10       no change of ours in 8 to 10: the current one is 7
 */
import { randomBytes } from 'node:crypto'
import { SharedLookup } from '../../../base/concurrency/shared-lookup.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { assertKey, assertWrite } from '../key.ts'
import type { SharedRevisions } from '../shared-revisions.ts'
import {
  type Batch,
  type Committed,
  type Conflict,
  type Entry,
  type Key,
  type ListRange,
  type Retention,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
  StoreError,
  StoreFull,
  StoreRestored,
  type WatchOptions,
  type Write,
} from '../store.ts'
import { assertLogIntact } from './assert-log-intact.ts'
import type { ChangeStream } from './change-stream.ts'
import { Commits } from './commits.ts'
import { Compactor } from './compactor.ts'
import type { CheckedSession, Connection } from './connection.ts'
import { isCompacted, isFuture, noteFailure, readFailure } from './failure.ts'
import type { ChangeSource, GenerationParts } from './generation-source.ts'
import { CallError } from './grpc.ts'
import { clearAbandoned } from './journal/clear-journal.ts'
import { type EtcdJournal, openEtcdJournal } from './journal/journal.ts'
import type { KeySpace } from './key-space.ts'
import { LogReader } from './log-reader.ts'
import {
  decodeHeaderOnly,
  decodeRange,
  encodeCompact,
  encodePut,
  encodeRange,
  type Method,
  methods,
  type RangeRequest,
  type RangeResponse,
} from './messages.ts'
import { readPages } from './pages.ts'
import { restored, watchFrom } from './watch.ts'

export interface EtcdGenerationOptions {
  readonly connection: Connection
  readonly generationParts: GenerationParts
  /** Minimum age of changes before they are compacted. Undefined if another thread runs compaction. */
  readonly historyMs: number | undefined
  /** Retention limits of the journal. If undefined, the store has no journal. */
  readonly retention?: Retention | undefined
  readonly clock: Clock
  readonly onWarning: (text: string) => void
  /** Called once, after etcd has gone back in time and the generation has ended. */
  readonly onRestored: (error: StoreRestored) => void
}

/**
 * Time in milliseconds to wait for the change stream to reach a revision. After that, the server makes a progress write
 * so that the change stream advances.
 */
const patienceMs = 10

export class EtcdGeneration {
  readonly journal: EtcdJournal | undefined
  /** The reason why the generation has ended. Undefined while the generation is active. */
  #over: StoreError | undefined
  /** The current revision at the time when the generation started. */
  readonly #beginning: Revision
  readonly #connection: Connection
  readonly #space: KeySpace
  /** The newest commit and compaction of this process. Other servers may have compacted later revisions. */
  readonly #sharedRevisions: SharedRevisions
  readonly #commits: Commits
  readonly #source: ChangeSource
  readonly #compactor: Compactor | undefined
  readonly #onRestored: EtcdGenerationOptions['onRestored']
  /**
   * Sessions whose etcd is known to have the log of this generation. A restore of etcd ends all sessions that were open
   * before the restore.
   */
  readonly #checkedSessions = new WeakSet<CheckedSession>()
  readonly #check = (session: CheckedSession, deadline: number): Promise<void> | undefined =>
    this.#checkedSessions.has(session) ? undefined : this.#checkSession(session, deadline)
  readonly #present = new SharedLookup(() => this.#lookUp())
  readonly #progressWrites = new SharedLookup(() => this.#writeProgress())

  constructor(options: EtcdGenerationOptions) {
    const { connection, generationParts, historyMs, onRestored } = options
    const { space, sharedRevisions } = generationParts
    this.#sharedRevisions = sharedRevisions
    this.#connection = connection
    this.#space = space
    this.#onRestored = onRestored
    this.#source = generationParts.openChanges({
      present: () => this.#lookUp(),
      isRolledBack: () => this.#isRolledBack(),
      onRestored: () => void this.#restored(),
    })
    this.#beginning = this.#changeStream.newest
    const revision = () => this.revision()
    const compact = (target: Revision) => this.compact(target)
    this.journal = openEtcdJournal(options.retention, {
      ...options,
      space,
      list: (range) => this.list(range),
      revision,
      newest: () => this.#changeStream.newest,
      anchor: () => this.#anchor(this.#changeStream.tail.revision),
    })
    this.#commits = new Commits(connection, space, {
      noteOf: ({ note }) => this.journal?.note(note),
      check: this.#check,
    })
    if (historyMs !== undefined) this.#compactor = new Compactor({ connection, space, historyMs, revision, compact })
  }

  /**
   * Starts the generation. Must be called once, before any other method. Checks the current session so that the first
   * commit does not have to.
   */
  async begin(): Promise<void> {
    const request = encodeRange({ key: this.#space.note('offset') })
    const checked = this.#connection.call(methods.range, request, { effect: 'read', check: this.#check })
    // Ignores a failed check here. The first commit repeats the check and reports the error.
    await checked.catch(() => {})
    await this.journal?.begin()
  }

  async commit(write: Write): Promise<Committed | Conflict> {
    this.#assertOpen()
    assertWrite(write)
    const reportedRevision = this.#reportedRevision
    const result = await this.#commits.commit(write).catch((error: unknown) => {
      if (error instanceof StoreFull) this.journal?.full()
      throw error
    })
    if (result.outcome === 'conflict') return result
    // etcd was restored, so the write happened in a log that this process has not read. Its revision is unknown until
    // the next generation starts.
    if (result.revision <= reportedRevision) throw new StoreError(this.#restored().message, { ambiguous: true })
    this.#sharedRevisions.raise('revision', result.revision)
    return result
  }

  async revision(): Promise<Revision> {
    this.#assertOpen()
    return this.#settled(await this.#present.ask())
  }

  async get(key: Key): Promise<Entry | undefined> {
    this.#assertOpen()
    assertKey(key)
    const { entries } = await this.#range({ key: this.#space.key(key) })
    return entries[0] && this.#space.entry(entries[0])
  }

  async list({ prefix, after, limit, revision }: ListRange): Promise<Snapshot> {
    this.#assertOpen()
    const range = this.#space.range(prefix, after)
    const at = revision === undefined ? undefined : this.#readableAt(revision)
    try {
      const page = await readPages({ ...range, limit, revision: at }, (request) => this.#callRange(request))
      const entries = page.entries.map((entry) => this.#space.entry(entry))
      const reportedRevision = revision ?? (await this.#settled(this.#space.revision(page.revision)))
      return { revision: reportedRevision, entries, remaining: page.remaining }
    } catch (error) {
      throw await this.#listFailure(error, revision ?? this.#changeStream.newest)
    }
  }

  async *watch(options: WatchOptions): AsyncIterable<Batch> {
    this.#assertOpen()
    const { tail } = this.#changeStream
    // Drop changes that another thread has compacted in the meantime.
    tail.forget(this.#sharedRevisions.oldest)
    const history = new LogReader(this.#connection, this.#space, options.signal)
    try {
      yield* tail.follow(options, async (after) => {
        if (after < this.#sharedRevisions.oldest) throw new RevisionGone(after, this.#sharedRevisions.oldest)
        return history.read(after, await this.#anchor(tail.revision))
      })
    } finally {
      await history.close()
    }
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    const present = await this.#present.ask()
    if (revision > present) throw new RevisionAhead(revision, await this.#settled(present))
    if (this.#space.etcdRevision(revision) < 1) return
    // Wait until this process's watch has delivered the revision. Once the revision is compacted, etcd can no longer
    // report the value that the change replaced.
    await this.#settled(revision)
    await this.#keepBefore(revision)
    try {
      // Compaction is idempotent, so it is retried like a read.
      const request = encodeCompact(this.#space.etcdRevision(revision))
      await this.#connection.call(methods.compact, request, { effect: 'read' })
    } catch (error) {
      if (!isCompacted(error)) throw readFailure(error)
    }
    this.#sharedRevisions.raise('oldest', revision)
    this.#changeStream.tail.forget(revision)
  }

  /**
   * Archives changes before etcd compacts them. If archiving fails, compaction still runs, because compaction is more
   * important than the journal.
   */
  async #keepBefore(revision: Revision): Promise<void> {
    const parts = { connection: this.#connection, space: this.#space }
    try {
      if (this.journal !== undefined) await this.journal.keep()
      // Soon after the start, the current revision may be a change to a key of another program, so it proves nothing
      // about the journal.
      else if (revision > this.#beginning && revision <= this.#changeStream.newest)
        await clearAbandoned(parts, revision)
    } catch (error) {
      this.journal?.failed(readFailure(error))
    }
  }

  /** Ends all watches and background work of the generation. */
  async end(reason: StoreError): Promise<void> {
    this.#over ??= reason
    this.journal?.stop()
    this.#compactor?.stop()
    await this.#source.stop(this.#over)
  }

  get #changeStream(): ChangeStream {
    return this.#source.changeStream
  }

  /** The highest revision that etcd has reported so far. */
  get #reportedRevision(): Revision {
    return Math.max(this.#sharedRevisions.revision, this.#changeStream.tail.revision)
  }

  #restored(): StoreError {
    if (this.#over !== undefined) return this.#over
    const error = restored(this.#reportedRevision)
    this.#over = error
    void this.end(error)
    this.#onRestored(error)
    return error
  }

  /**
   * Uses a write to check whether etcd has gone back in time. The response to a write is never stale, so a revision
   * lower than a reported revision proves that etcd has gone back in time.
   */
  async #isRolledBack(): Promise<boolean> {
    const reportedRevision = this.#reportedRevision
    return (await this.#progressWrites.ask()) <= reportedRevision
  }

  /** Throws StoreRestored if the etcd of a session does not have the log of this generation. */
  async #checkSession(session: CheckedSession, deadline: number): Promise<void> {
    const connection = { call: (method: Method, request: Buffer) => session.call(method, request, deadline) }
    const isRolledBack = () => this.#isRolledBack()
    try {
      await this.#checkRevisions(connection)
      const { revision } = this.#changeStream
      await assertLogIntact({
        connection,
        last: this.#source.last,
        etcdRevision: this.#space.etcdRevision(revision),
        anyKey: this.#space.note('tick'),
        isRolledBack,
        restored: () => restored(revision),
      })
    } catch (error) {
      if (error instanceof StoreRestored) throw this.#restored()
      // Nothing has been sent yet, so the caller can safely retry the commit.
      throw error instanceof CallError ? new CallError(error.message, { sent: false, cause: error }) : error
    }
    this.#checkedSessions.add(session)
  }

  /**
   * Throws an error if etcd's revision is lower than a revision that etcd reported earlier, or if another server has
   * detected a restore and raised the offset.
   */
  async #checkRevisions(connection: Pick<Connection, 'call'>): Promise<void> {
    const reportedRevision = this.#reportedRevision
    const request = encodeRange({ key: this.#space.note('offset') })
    const { revision, entries } = decodeRange(await connection.call(methods.range, request, { effect: 'read' }))
    const offset = entries[0] === undefined ? 0 : Number(Buffer.from(entries[0].value).toString())
    if (offset !== this.#space.offset) throw restored(reportedRevision)
    if (revision >= this.#space.etcdRevision(reportedRevision)) return
    if (await this.#isRolledBack()) throw restored(reportedRevision)
    throw new CallError('the etcd member returned a lower revision than before', {
      sent: false,
    })
  }

  /** Returns etcd's current revision, using a linearizable read of a key that may be absent. */
  async #lookUp(): Promise<Revision> {
    const { revision } = await this.#range({ key: this.#space.note('tick'), countOnly: true })
    return this.#space.revision(revision)
  }

  /**
   * Waits until the change stream has passed `revision` and returns the settled revision. The comment at the top of the
   * file explains settled revisions.
   */
  async #settled(revision: Revision): Promise<Revision> {
    const changeStream = this.#changeStream
    let before: Revision = changeStream.tail.revision
    while (!(await changeStream.reached(revision, patienceMs))) {
      this.#assertOpen()
      if (changeStream.tail.revision === before) {
        await this.#push(revision)
        break
      }
      before = changeStream.tail.revision
    }
    return Math.min(revision, changeStream.newest)
  }

  /**
   * Makes a progress write so that a stalled change stream passes `revision`. The stream may also pass the revision
   * without the write, so a failed write is not fatal.
   */
  async #push(revision: Revision): Promise<void> {
    let cause: unknown
    this.#progressWrites.ask().catch((error: unknown) => {
      cause = error
    })
    if (await this.#changeStream.reached(revision, this.#connection.deadlineMs)) return
    this.#assertOpen()
    cause ??= this.#changeStream.failure
    throw new StoreError('the etcd watch did not catch up with the revision of the store', { cause })
  }

  async #writeProgress(): Promise<Revision> {
    // Every progress write has unique bytes, so that two progress writes at the same revision can be distinguished (see
    // assert-log-intact.ts).
    const request = encodePut(this.#space.note('tick'), randomBytes(8))
    try {
      // A progress write can be retried like a read, because an additional write does no harm.
      const answer = await this.#connection.call(methods.put, request, { effect: 'read' })
      return this.#space.revision(decodeHeaderOnly(answer))
    } catch (error) {
      throw noteFailure(error)
    }
  }

  /** Returns the given revision, or a later revision that etcd's watch is certain to report. */
  async #anchor(revision: Revision): Promise<Revision> {
    return this.#changeStream.anchored ? revision : this.#progressWrites.ask()
  }

  /**
   * Returns the etcd revision for reading the state at `revision`. If none of our keys changed since `revision`,
   * returns the change stream's current revision, which has the same state. `revision` itself may be compacted, even if
   * it is the revision of our last change.
   */
  #readableAt(revision: Revision): number {
    const { newest, tail } = this.#changeStream
    const unchanged = newest <= revision && revision <= tail.revision
    const at = this.#space.etcdRevision(unchanged ? tail.revision : revision)
    if (at < 1) throw new RevisionGone(revision, this.#space.revision(1))
    return at
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    try {
      return await this.#callRange(request)
    } catch (error) {
      throw readFailure(error)
    }
  }

  /**
   * Reads a range with a linearizable read. Some etcd versions return a stale response after the member was paused. A
   * response that is older than the known revision is stale, so the read is retried on another member. A restored etcd
   * may already have passed the known revision, so each session is checked once.
   */
  async #callRange(request: RangeRequest): Promise<RangeResponse> {
    const sharedRevisions = this.#space.etcdRevision(this.#reportedRevision)
    const encoded = encodeRange(request)
    for (let attempt = 0; attempt < 3; attempt++) {
      const options = { effect: 'read', check: this.#check } as const
      const response = decodeRange(await this.#connection.call(methods.range, encoded, options))
      if (response.revision >= sharedRevisions) return response
      this.#connection.moveOn()
    }
    if (await this.#isRolledBack()) throw this.#restored()
    throw new StoreError('etcd returned a lower revision than before')
  }

  async #listFailure(error: unknown, revision: Revision): Promise<StoreError> {
    if (isCompacted(error)) return new RevisionGone(revision, await this.#oldestAbove(revision))
    if (isFuture(error)) return new RevisionAhead(revision, await this.revision())
    return readFailure(error)
  }

  /**
   * Returns the oldest available revision: the start of the history window if it is known, or the revision that etcd
   * reports to a watch that starts before the window.
   */
  async #oldestAbove(revision: Revision): Promise<Revision> {
    if (revision < this.#sharedRevisions.oldest) return this.#sharedRevisions.oldest
    const signal = AbortSignal.timeout(1_000)
    const after = Math.max(this.#space.revision(1), revision - 1)
    const batches = watchFrom(this.#connection, this.#space, { after, signal })
    try {
      await batches.next()
    } catch (error) {
      if (!(error instanceof RevisionGone)) throw error
      this.#sharedRevisions.raise('oldest', error.oldest)
    } finally {
      await batches.return(undefined)
    }
    return Math.max(this.#sharedRevisions.oldest, revision + 1)
  }

  #assertOpen(): void {
    if (this.#over !== undefined) throw this.#over
  }
}

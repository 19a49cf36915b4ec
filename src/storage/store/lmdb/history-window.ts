/**
 * Manages the history window of the embedded store. Changes are retained for at least `historyMs`, counted from the
 * last restart. Then they are compacted in steps, up to the oldest revision that is still being read.
 *
 * If the disk is full, the window shrinks, because new writes are more important than old revisions. The store drops
 * part of the window to free space for writes. If there is no space for the log record of a delete, the delete
 * truncates the window even while readers use it. Watches are not affected as long as the in-memory log tail contains
 * the changes since their revision.
 */
import type { Clock } from '../../../base/time/clock.ts'
import type { LogTail } from '../log-tail.ts'
import { type Retention, type Revision, RevisionGone } from '../store.ts'
import type { Connection } from './connection.ts'
import { TimeMarks } from './marks.ts'
import type { CompactReply, CompactRequest, Reach } from './messages.ts'

/** The history window shared by the stores of multiple threads (`worker-store.ts`). */
export interface SharedHistoryWindow {
  /** The oldest revision at which a read can start. */
  readonly oldest: Revision
  /** The revision below which nothing can be read. */
  readonly cut: Revision
  /** The oldest revision that the journal can list. */
  readonly floor: Revision
  /**
   * Protects a revision from compaction while this thread reads it. Resolves to false if the revision is no longer
   * available.
   */
  pin(revision: Revision, reach: Reach): Promise<boolean>
  unpin(revision: Revision, reach: Reach): void
}

export interface HistoryWindowOptions {
  readonly connection: Connection
  readonly tail: Pick<LogTail, 'revision' | 'forget'>
  /** The window that all threads share. Undefined if no other thread uses the store. */
  readonly shared?: SharedHistoryWindow
  readonly oldest: Revision
  /** The oldest revision that the journal can list. */
  readonly floor: Revision
  /** Retention limits of the journal. */
  readonly retention: Retention | undefined
  readonly clock: Clock
  /** Called at most once a minute if the history window is shorter than configured. */
  readonly onWarning?: ((message: string) => void) | undefined
  /** Called for errors of background work. */
  readonly onError: (error: Error) => void
}

const warningPauseMs = 60_000
const maxSweepPauseMs = 60_000

type CompactWish = Omit<CompactRequest, 'id'>

export class HistoryWindow {
  readonly #options: HistoryWindowOptions
  readonly #pins = new Map<Revision, number>()
  readonly #marks = new TimeMarks()
  /** The start of the history window. */
  #oldest: Revision
  /** The oldest revision that the journal can list. */
  #floor: Revision
  /** Changes up to this revision are deleted from the journal, even if they are younger than its retention time. */
  #dropJournalUpTo: Revision = 0
  /** The revision below which nothing can be read, even by readers that have already started. */
  #cut: Revision
  #sweep: Promise<void> = Promise.resolve()
  #sweptAt = Number.NEGATIVE_INFINITY
  #warnedAt = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(options: HistoryWindowOptions) {
    this.#options = options
    this.#oldest = options.oldest
    this.#floor = options.floor
    this.#cut = options.floor
  }

  /** The oldest revision that the journal can list. */
  get floor(): Revision {
    this.#learn()
    return this.#floor
  }

  /** Compacts changes that are older than `historyMs`. The owner calls this method periodically. */
  keep(historyMs: number): void {
    const { clock, tail, onError } = this.#options
    this.#marks.add(clock.monotonic(), tail.revision)
    const target = this.#marks.reachedBy(clock.monotonic() - historyMs)
    if (target !== undefined && target > this.#oldest) this.compact(target).catch(onError)
    else if (this.#isJournalDue()) this.#forget(this.#oldest).catch(onError)
  }

  /**
   * Whether the journal is due for a check for outdated changes. Changes become outdated even if nothing is written.
   */
  #isJournalDue(): boolean {
    const { retention, clock } = this.#options
    if (this.#floor >= this.#oldest) return false
    return clock.monotonic() - this.#sweptAt >= Math.min(maxSweepPauseMs, (retention?.time ?? 0) / 10)
  }

  async compact(revision: Revision): Promise<void> {
    if (revision <= this.#oldest && !this.#isJournalDue()) return
    this.#options.tail.forget(revision)
    await this.#forget(revision)
  }

  /** Deletes the part of the journal that is before the history window. */
  async forgetJournal(): Promise<void> {
    this.#dropJournalUpTo = Math.max(this.#dropJournalUpTo, this.#oldest)
    await this.#forget(this.#oldest)
  }

  /** Drops old revisions to free space. Returns false if there are no old revisions. Never rejects. */
  async giveUp(part: 'half' | 'all'): Promise<boolean> {
    this.#learn()
    const { revision } = this.#options.tail
    const begin = Math.min(this.#floor, this.#oldest)
    if (this.#stopped || begin >= revision) return false
    const keptCount = part === 'all' ? 0 : Math.floor((revision - begin) / 2)
    this.#warn()
    try {
      this.#dropJournalUpTo = revision - keptCount
      // Drop old revisions from the journal first. Shrink the history window only if the journal has less than half of
      // all revisions.
      await this.#forget(Math.max(this.#oldest, revision - keptCount))
      // Run another step, because lmdb can reuse freed pages only after the next transaction.
      await this.#step()
      return true
    } catch (error) {
      this.#options.onError(error as Error)
      return false
    }
  }

  /**
   * Truncates the history window because keys were deleted without a log record. The last of these deletions has the
   * given revision.
   */
  cutOff(revision: Revision): void {
    this.#cut = Math.max(this.#cut, revision)
    this.#floor = Math.max(this.#floor, revision)
    this.#dropJournalUpTo = Math.max(this.#dropJournalUpTo, revision)
    this.#warn()
    this.#forget(revision).catch(this.#options.onError)
  }

  /** Stops background work. Resolves when active work has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#sweep
  }

  /** Throws RevisionGone if no read can start at the given revision. */
  assertKept(revision: Revision, reach: Reach): void {
    const beginning = this.#beginning(reach)
    if (revision < beginning) throw new RevisionGone(revision, beginning)
  }

  #beginning(reach: Reach): Revision {
    this.#learn()
    return reach === 'journal' ? this.#floor : this.#oldest
  }

  /**
   * Protects a revision from compaction while `read` runs. The history window may still be truncated, which
   * `assertReadable` detects.
   */
  async pinned<T>(revision: Revision, reach: Reach, read: () => Promise<T>): Promise<T> {
    const { shared } = this.#options
    return shared === undefined
      ? await this.#pinned(revision, reach, read)
      : await this.#pinned(revision, reach, () => this.#pinnedForAll(shared, { revision, reach }, read))
  }

  async #pinnedForAll<T>(
    shared: SharedHistoryWindow,
    { revision, reach }: { revision: Revision; reach: Reach },
    read: () => Promise<T>,
  ): Promise<T> {
    if (!(await shared.pin(revision, reach))) throw new RevisionGone(revision, this.#beginning(reach))
    try {
      return await read()
    } finally {
      shared.unpin(revision, reach)
    }
  }

  async #pinned<T>(revision: Revision, reach: Reach, read: () => Promise<T>): Promise<T> {
    this.assertKept(revision, reach)
    this.#pins.set(revision, (this.#pins.get(revision) ?? 0) + 1)
    try {
      return await read()
    } finally {
      this.#unpin(revision)
    }
  }

  /**
   * Throws RevisionGone if the given revision can no longer be read. Must be called after every read, because a
   * compaction may have started before the revision was pinned.
   */
  assertReadable(revision: Revision): void {
    this.#learn()
    const beginning = Math.max(this.#cut, this.#floor)
    if (revision < beginning) throw new RevisionGone(revision, beginning)
  }

  /** Performs the compactions that other threads have requested. */
  #learn(): void {
    const { shared } = this.#options
    if (shared === undefined) return
    this.#oldest = Math.max(this.#oldest, shared.oldest)
    this.#cut = Math.max(this.#cut, shared.cut)
    this.#floor = Math.max(this.#floor, shared.floor)
  }

  async #forget(revision: Revision): Promise<void> {
    this.#oldest = Math.max(this.#oldest, revision)
    this.#sweptAt = this.#options.clock.monotonic()
    const sweep = this.#sweep.then(() => this.#sweepOut())
    // Ignores the error here, because the caller that started this work receives it. The next compaction only needs to
    // know when this compaction ends.
    this.#sweep = sweep.catch(() => {})
    await sweep
  }

  /** Deletes all changes before `#oldest`, unless a reader still needs them. */
  async #sweepOut(): Promise<void> {
    while (!this.#stopped && (await this.#step()));
  }

  /** Runs one compaction step. Returns whether more steps are needed. */
  async #step(): Promise<boolean> {
    const upTo = Math.min(this.#oldest, ...this.#pins.keys())
    // Revisions that were dropped to free disk space are deleted first, even if the journal would retain them.
    const dropJournalUpTo = this.#dropJournalUpTo
    const isGiven = dropJournalUpTo > 0
    const request = { type: 'compact', oldest: this.#oldest, ...(isGiven ? this.#giving(upTo) : this.#keeping(upTo)) }
    const { more, floor } = (await this.#options.connection.request(request as CompactWish)) as CompactReply
    this.#floor = Math.max(this.#floor, floor)
    if (!more && this.#dropJournalUpTo === dropJournalUpTo) this.#dropJournalUpTo = 0
    return more || isGiven
  }

  #giving(upTo: Revision) {
    return { upTo: Math.min(upTo, this.#dropJournalUpTo), journal: undefined }
  }

  #keeping(upTo: Revision) {
    const { retention, clock } = this.#options
    if (retention === undefined || retention.time === 0) return { upTo, journal: undefined }
    const { time, bytes, withoutValues } = retention
    return { upTo, journal: { since: clock.now() - time, bytes, withoutValues } }
  }

  #unpin(revision: Revision): void {
    const readers = this.#pins.get(revision)! - 1
    if (readers === 0) this.#pins.delete(revision)
    else this.#pins.set(revision, readers)
  }

  #warn(): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#warnedAt < warningPauseMs) return
    this.#warnedAt = now
    this.#options.onWarning?.('the disk is full: old object revisions were deleted to make space for new data')
  }
}

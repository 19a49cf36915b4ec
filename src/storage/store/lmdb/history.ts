/**
 * How far back the embedded store can be read. History is kept for `historyMs`, and after a restart for as long again;
 * then it is forgotten in steps, up to the oldest revision that somebody still reads.
 *
 * On a full disk it ends earlier: to write the present is more than to read back the past. Part of it is given up for
 * what is to be written, and a delete without room for its record cuts it off under its readers. Watches do not mind
 * while the tail, in memory, reaches back to where they are.
 */
import type { Clock } from '../../../base/time/clock.ts'
import { type Retention, type Revision, RevisionGone } from '../store.ts'
import type { Tail } from '../tail.ts'
import type { Connection } from './connection.ts'
import { TimeMarks } from './marks.ts'
import type { CompactReply, CompactRequest, Reach } from './messages.ts'

/** What stores of other threads do to the same history (`worker-store.ts`). */
export interface SharedHistory {
  /** The oldest revision that reading may begin at. */
  readonly oldest: Revision
  /** Below this one nothing can be read any more. */
  readonly cut: Revision
  /** The oldest revision that the journal can list. */
  readonly floor: Revision
  /** Keeps a revision readable for this thread. False where it is gone. */
  pin(revision: Revision, reach: Reach): Promise<boolean>
  unpin(revision: Revision, reach: Reach): void
}

export interface HistoryOptions {
  readonly connection: Connection
  readonly tail: Pick<Tail, 'revision' | 'forget'>
  /** Absent: nobody else has to do with this history. */
  readonly shared?: SharedHistory
  readonly oldest: Revision
  /** The oldest revision that the journal can list. */
  readonly floor: Revision
  /** How long the journal is kept. */
  readonly retention: Retention | undefined
  readonly clock: Clock
  /** Called when history is shorter than it should be, a minute apart at least. */
  readonly onWarning?: ((message: string) => void) | undefined
  /** Called with what failed in the background. */
  readonly onError: (error: Error) => void
}

const warningPauseMs = 60_000
const maxSweepPauseMs = 60_000

type CompactWish = Omit<CompactRequest, 'id'>

export class History {
  readonly #options: HistoryOptions
  readonly #pins = new Map<Revision, number>()
  readonly #marks = new TimeMarks()
  /** The oldest revision that can be listed. */
  #oldest: Revision
  /** The oldest revision that the journal can list. */
  #floor: Revision
  /** Up to here the journal is given up, whatever its age. */
  #given: Revision = 0
  /** Below this one nothing can be read any more, not even by those who have begun to. */
  #cut: Revision
  #sweep: Promise<void> = Promise.resolve()
  #sweptAt = Number.NEGATIVE_INFINITY
  #warnedAt = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(options: HistoryOptions) {
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

  /** Forgets what is older than `historyMs`; to be called from time to time. */
  keep(historyMs: number): void {
    const { clock, tail, onError } = this.#options
    this.#marks.add(clock.monotonic(), tail.revision)
    const target = this.#marks.reachedBy(clock.monotonic() - historyMs)
    if (target !== undefined && target > this.#oldest) this.compact(target).catch(onError)
    else if (this.#isJournalDue()) this.#forget(this.#oldest).catch(onError)
  }

  /** The journal ages although nothing is written. */
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

  /** Forgets all of the journal that watches and lists do not reach back to. */
  async forgetJournal(): Promise<void> {
    this.#given = Math.max(this.#given, this.#oldest)
    await this.#forget(this.#oldest)
  }

  /** Makes room. False where there is nothing to give up. Never rejects. */
  async giveUp(part: 'half' | 'all'): Promise<boolean> {
    this.#learn()
    const { revision } = this.#options.tail
    const begin = Math.min(this.#floor, this.#oldest)
    if (this.#stopped || begin >= revision) return false
    const kept = part === 'all' ? 0 : Math.floor((revision - begin) / 2)
    this.#warn()
    try {
      this.#given = revision - kept
      // The journal goes first: what watches and lists may still ask for stays where half of all is enough.
      await this.#forget(Math.max(this.#oldest, revision - kept))
      // What the last step has freed can be used after one step more.
      await this.#step()
      return true
    } catch (error) {
      this.#options.onError(error as Error)
      return false
    }
  }

  /** Keys were deleted without a record, the last of them at this revision. */
  cutOff(revision: Revision): void {
    this.#cut = Math.max(this.#cut, revision)
    this.#floor = Math.max(this.#floor, revision)
    this.#given = Math.max(this.#given, revision)
    this.#warn()
    this.#forget(revision).catch(this.#options.onError)
  }

  /** Nothing new is begun; resolves when what was begun has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#sweep
  }

  /** Throws RevisionGone where reading cannot begin at this revision. */
  assertKept(revision: Revision, reach: Reach): void {
    const beginning = this.#beginning(reach)
    if (revision < beginning) throw new RevisionGone(revision, beginning)
  }

  #beginning(reach: Reach): Revision {
    this.#learn()
    return reach === 'journal' ? this.#floor : this.#oldest
  }

  /** Keeps this revision readable while `read` runs, unless history is cut off: `assertReadable` says so. */
  async pinned<T>(revision: Revision, reach: Reach, read: () => Promise<T>): Promise<T> {
    const { shared } = this.#options
    return shared === undefined
      ? await this.#pinned(revision, reach, read)
      : await this.#pinned(revision, reach, () => this.#pinnedForAll(shared, { revision, reach }, read))
  }

  async #pinnedForAll<T>(
    shared: SharedHistory,
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

  /** To be called for all that was read at this revision. A step of compaction may have been under way when it was pinned. */
  assertReadable(revision: Revision): void {
    this.#learn()
    const beginning = Math.max(this.#cut, this.#floor)
    if (revision < beginning) throw new RevisionGone(revision, beginning)
  }

  /** What others have forgotten is gone here too. */
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
    // The caller gets a failure; the next compaction only waits for this one.
    this.#sweep = sweep.catch(() => {})
    await sweep
  }

  /** Deletes what is older than `#oldest` and read by nobody. */
  async #sweepOut(): Promise<void> {
    while (!this.#stopped && (await this.#step()));
  }

  /** Whether there is more to do. */
  async #step(): Promise<boolean> {
    const upTo = Math.min(this.#oldest, ...this.#pins.keys())
    // What is given up goes first, whatever the journal would keep of it.
    const given = this.#given
    const isGiven = given > 0
    const request = { type: 'compact', oldest: this.#oldest, ...(isGiven ? this.#giving(upTo) : this.#keeping(upTo)) }
    const { more, floor } = (await this.#options.connection.request(request as CompactWish)) as CompactReply
    this.#floor = Math.max(this.#floor, floor)
    if (!more && this.#given === given) this.#given = 0
    return more || isGiven
  }

  #giving(upTo: Revision) {
    return { upTo: Math.min(upTo, this.#given), journal: undefined }
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
    this.#options.onWarning?.('the disk is full: older versions of objects were given up to make room for new data')
  }
}

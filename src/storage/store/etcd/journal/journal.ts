/**
 * The journal of a store on etcd: changes with their notes, stored next to the store and shared by all servers.
 * archive.ts writes the journal, retention.ts limits its age and size, reader.ts reads it, and layout.ts and
 * encoding.ts define its keys and values.
 *
 * Every server checks once per second whether there are changes to archive. A server archives changes after a few
 * seconds, or earlier if there are many. If another server has moved the archive position since the last check, this
 * server leaves the changes to the other server.
 */
import type { Clock } from '../../../../base/time/clock.ts'
import {
  type Journal,
  type JournalChange,
  type Key,
  type ListRange,
  type Note,
  type Retention,
  type Revision,
  type Snapshot,
  type StoreError,
  StoreFull,
} from '../../store.ts'
import { readFailure } from '../failure.ts'
import { Archive, type ArchiveParts } from './archive.ts'
import { type ArchivePosition, writeNote } from './encoding.ts'
import { Layout } from './layout.ts'
import { JournalReader } from './reader.ts'
import { JournalRetention } from './retention.ts'

export interface EtcdJournalParts extends Omit<ArchiveParts, 'layout' | 'signal'> {
  readonly list: (range: ListRange) => Promise<Snapshot>
  /**
   * Waits until the change stream has delivered all changes up to the time of the call, and resolves to the current
   * revision.
   */
  readonly revision: () => Promise<Revision>
}

const lookMs = 1_000
/** Changes are archived after `ms` milliseconds, or earlier if `revisions` revisions are waiting. */
const wait = { ms: 5_000, revisions: 500 }
const maxSweepPauseMs = 60_000

export class EtcdJournal implements Journal {
  /** The error of the last attempt to archive changes. Undefined if the attempt succeeded. */
  failure: StoreError | undefined
  readonly #parts: EtcdJournalParts
  readonly #archive: Archive
  readonly #forgetting: JournalRetention
  readonly #reading: JournalReader
  readonly #clock: Clock
  readonly #stopping = new AbortController()
  readonly #timer: NodeJS.Timeout
  #looking = false
  #wasFull = false
  #lookedAt: number
  #sweptAt: number
  #lastSeenRevision: Revision = 0

  constructor(parts: EtcdJournalParts) {
    const { connection, space, retention, clock } = parts
    const { signal } = this.#stopping
    const layout = new Layout(space)
    this.#parts = parts
    this.#clock = clock
    this.#lookedAt = clock.monotonic()
    this.#sweptAt = clock.monotonic()
    this.#archive = new Archive({ ...parts, layout, signal })
    this.#forgetting = new JournalRetention({ connection, space, layout, retention, clock, signal })
    this.#reading = new JournalReader({ connection, layout, list: parts.list, keepUp: () => this.oldest() })
    this.#timer = setInterval(() => void this.#look(), lookMs)
    this.#timer.unref()
  }

  /** Starts the journal. If this fails, reports a warning and retries as soon as possible. */
  async begin(): Promise<void> {
    await this.#archive.begin().catch((error: unknown) => this.failed(readFailure(error)))
  }

  /** Returns the key and value of the note that belongs to a commit and is written in the same transaction. */
  note(note: Note | undefined): { readonly key: Uint8Array; readonly value: Uint8Array } {
    return {
      key: this.#parts.space.note('change'),
      value: writeNote(note ?? { time: this.#clock.now(), text: new Uint8Array(0) }),
    }
  }

  async changes(key: Key, before: Revision, limit: number): Promise<readonly JournalChange[]> {
    return await this.#reading.changes(key, before, limit)
  }

  async list(range: ListRange & { readonly revision: Revision }): Promise<Snapshot> {
    return await this.#reading.list(range)
  }

  async oldest(): Promise<Revision> {
    await this.#parts.revision()
    return await this.#forgetting.floor(await this.keep())
  }

  /** Finds the revision with a binary search over the segments, which contain the times of their changes. */
  async revisionAt(time: number): Promise<Revision | undefined> {
    await this.#parts.revision()
    let { through: high } = await this.keep()
    const first = await this.#forgetting.segmentAt(0)
    if (first === undefined || first.changes[0]!.time > time) return undefined
    let low = first.from
    let reached: Revision | undefined
    while (low < high) {
      const segment = await this.#forgetting.segmentAt(Math.ceil((low + high) / 2))
      const last = segment?.changes.findLast((change) => change.time <= time)
      if (segment === undefined || last === undefined) high = Math.min(high - 1, segment?.from ?? low)
      else {
        reached = last.revision
        low = segment.through
        if (last !== segment.changes.at(-1)) break
      }
    }
    return reached
  }

  async forget(): Promise<void> {
    await this.#parts.revision()
    await this.#archive.cut()
    await this.keep()
  }

  /** Archives all changes that the change stream has delivered so far, and deletes outdated segments. */
  async keep(): Promise<ArchivePosition> {
    const position = await this.#archive.keepUp()
    await this.#forget(position)
    return position
  }

  async #forget(position: ArchivePosition): Promise<void> {
    this.#sweptAt = this.#clock.monotonic()
    try {
      if (this.#wasFull) await this.#forgetting.forgetHalf(position)
      this.#wasFull = false
      await this.#forgetting.forgetOld(position)
    } catch (error) {
      // If etcd is full, the journal starts later, when etcd has space again.
      if (!(error instanceof StoreFull)) throw error
    }
  }

  /**
   * Handles a full etcd. Nothing can be deleted while etcd is full, because a deletion needs a progress write. Without
   * the progress write, the change streams of the servers would not pass the revision of the deletion. The journal
   * therefore frees space as soon as etcd accepts data again.
   */
  full(): void {
    if (this.#wasFull) return
    this.#wasFull = true
    this.#parts.onWarning('etcd is full: half of the object history will be deleted when etcd accepts writes again')
  }

  stop(): void {
    this.#stopping.abort()
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#looking || !this.#isDue()) return
    this.#looking = true
    try {
      const position = await this.#archive.readPosition()
      const moved = position !== undefined && position.through !== this.#lastSeenRevision
      this.#lastSeenRevision = position?.through ?? 0
      const behind = this.#parts.newest() - this.#lastSeenRevision
      // The archive position has moved since the last check, so another server is archiving the changes and is not far
      // behind.
      if (moved && behind < wait.revisions) await this.#forget(position)
      else await this.#forget(behind > 0 || position === undefined ? await this.#archive.keepUp() : position)
      this.#lastSeenRevision = this.#archive.lastReadPosition?.through ?? this.#lastSeenRevision
      this.failure = undefined
    } catch (error) {
      this.failed(readFailure(error))
    } finally {
      this.#looking = false
    }
  }

  #isDue(): boolean {
    const now = this.#clock.monotonic()
    const behind = this.#parts.newest() - this.#lastSeenRevision
    const isLate = behind > 0 && now - this.#lookedAt >= wait.ms
    if (!isLate && behind < wait.revisions && !this.#isSweepDue()) return false
    this.#lookedAt = now
    return true
  }

  #isSweepDue(): boolean {
    const pause = Math.min(maxSweepPauseMs, this.#parts.retention.time / 10)
    return this.#clock.monotonic() - this.#sweptAt >= pause
  }

  /** Reports a failure to archive changes. If several attempts in a row fail, reports only the first failure. */
  failed(error: StoreError): void {
    if (this.#stopping.signal.aborted) return
    if (this.failure === undefined) this.#parts.onWarning(`cannot archive the object history: ${error.message}`)
    this.failure = error
  }
}

/** Opens the journal of a store on etcd. Returns undefined if the store has no journal. */
export function openEtcdJournal(retention: Retention | undefined, parts: Omit<EtcdJournalParts, 'retention'>) {
  return (retention?.time ?? 0) > 0 ? new EtcdJournal({ ...parts, retention: retention! }) : undefined
}

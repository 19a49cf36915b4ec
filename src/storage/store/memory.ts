/**
 * The reference store, which keeps all data in plain maps in one process and loses the data when the process exits. It
 * implements the store contract in as little code as possible. Tests compare the other backends with this store,
 * operation by operation. Only our tests and the tests of users (`testing/`) use this store.
 */

import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { repeat, systemClock, type TimerClock } from '../../base/time/clock.ts'
import { assertWrite } from './key.ts'
import { LogTail } from './log-tail.ts'
import {
  type Batch,
  type Bytes,
  type Change,
  type Committed,
  type Conflict,
  type Entry,
  type Guard,
  type Journal,
  type Key,
  type ListRange,
  type Note,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
  type Store,
  StoreError,
  type WatchOptions,
  type Write,
} from './store.ts'

/** How often the store checks for expired keys, in milliseconds. */
const tickMs = 100

export interface MemoryStoreOptions {
  /** The clock that determines when the lifetimes of keys end. */
  readonly clock?: TimerClock
  /** The initial entries and their revision. The log starts after this revision. */
  readonly beginning?: Pick<Snapshot, 'entries' | 'revision'>
}

/** A store that keeps all data in maps in memory. */
export class MemoryStore implements Store {
  #log: (Change & { readonly note?: Note | undefined })[] = []
  #oldest: Revision = 1
  #closed = false
  readonly #current = new Map<Key, Entry>()
  /** Expiry times of the keys that have a lifetime. */
  readonly #due = new Map<Key, number>()
  #stopTicking: (() => void) | undefined
  readonly #clock: TimerClock
  readonly #tail: LogTail

  constructor({ clock = systemClock, beginning = { entries: [], revision: 1 } }: MemoryStoreOptions = {}) {
    this.#clock = clock
    this.#oldest = beginning.revision
    this.#tail = new LogTail(beginning.revision, { maxChanges: 100, maxBytes: 1024 * 1024 })
    for (const entry of beginning.entries) this.#current.set(entry.key, entry)
  }

  async commit(write: Write): Promise<Committed | Conflict> {
    this.#assertOpen()
    assertWrite(write)
    const current = this.#current.get(write.key)
    if ((current?.revision ?? 0) !== write.expected) return { outcome: 'conflict', current }
    const holds = ({ key, revision }: Guard) =>
      revision === 'present' ? this.#current.has(key) : (this.#current.get(key)?.revision ?? 0) === revision
    if (!(write.guards ?? []).every(holds)) return { outcome: 'conflict', current }
    if (write.reserves?.some(({ key }) => this.#current.has(key))) return { outcome: 'conflict', current }
    for (const key of write.releases ?? []) if (this.#current.has(key)) this.#apply(key, undefined)
    for (const { key, value } of write.reserves ?? []) this.#apply(key, value)
    this.#setLifetime(write.key, write.lifetimeSeconds)
    return { outcome: 'committed', revision: this.#apply(write.key, write.value, write.note) }
  }

  async revision(): Promise<Revision> {
    this.#assertOpen()
    return this.#tail.revision
  }

  async get(key: Key): Promise<Entry | undefined> {
    this.#assertOpen()
    return this.#current.get(key)
  }

  async list({ prefix, after, limit = Number.POSITIVE_INFINITY, revision }: ListRange): Promise<Snapshot> {
    this.#assertOpen()
    const at = revision ?? this.#tail.revision
    if (at > this.#tail.revision) throw new RevisionAhead(at, this.#tail.revision)
    if (at < this.#oldest) throw new RevisionGone(at, this.#oldest)
    const inRange = [...this.#stateAt(at).values()]
      .filter((entry) => entry.key.startsWith(prefix) && (after === undefined || compareUtf8(entry.key, after) > 0))
      .sort((a, b) => compareUtf8(a.key, b.key))
    const entries = inRange.slice(0, limit)
    return { revision: at, entries, remaining: inRange.length - entries.length }
  }

  async *watch(options: WatchOptions): AsyncIterable<Batch> {
    this.#assertOpen()
    yield* this.#tail.follow(options, async (after, limit) => this.#readLog(after, limit))
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    if (revision > this.#tail.revision) throw new RevisionAhead(revision, this.#tail.revision)
    this.#oldest = Math.max(this.#oldest, revision)
    this.#log = this.#log.filter((change) => change.revision > this.#oldest)
    this.#tail.forget(this.#oldest)
  }

  /** The journal and the log start at the same revision. */
  readonly journal: Journal = {
    changes: async (key, before, limit) =>
      this.#log
        .filter((change) => change.key === key && change.revision < before)
        .toReversed()
        .slice(0, limit)
        .map(({ revision, value, note }) => ({ revision, value, note, deleted: value === undefined })),
    list: (range) => this.list(range),
    revisionAt: async (time) => this.#log.findLast(({ note }) => note !== undefined && note.time <= time)?.revision,
    oldest: async () => this.#oldest,
    forget: async () => {},
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopTicking?.()
    this.#tail.end(new StoreError('the store is closed'))
  }

  /** Returns a store with the same log, as if this store had been closed and opened again. */
  reopened(): MemoryStore {
    const beginning = { entries: [...this.#stateAt(this.#oldest).values()], revision: this.#oldest }
    const store = new MemoryStore({ clock: this.#clock, beginning })
    for (const { key, value, note } of this.#log) store.#apply(key, value, note)
    for (const [key, due] of this.#due) store.#setDue(key, due)
    return store
  }

  #apply(key: Key, value: Bytes | undefined, note?: Note): Revision {
    const previous = this.#current.get(key)
    const revision = this.#tail.revision + 1
    if (value === undefined) this.#current.delete(key)
    else this.#current.set(key, { key, revision, value })
    const change = { key, revision, value, previous }
    this.#log.push({ ...change, note })
    this.#tail.append([change])
    return revision
  }

  #setLifetime(key: Key, seconds: number | undefined): void {
    this.#due.delete(key)
    if (seconds !== undefined) this.#setDue(key, this.#clock.monotonic() + 1000 * seconds)
  }

  #setDue(key: Key, due: number): void {
    this.#due.set(key, due)
    this.#stopTicking ??= repeat(this.#clock, tickMs, () => this.#expire())
  }

  #expire(): void {
    for (const [key, due] of this.#due) {
      if (due > this.#clock.monotonic()) continue
      this.#due.delete(key)
      this.#apply(key, undefined)
    }
  }

  #readLog(after: Revision, limit: number): readonly Change[] {
    if (after < this.#oldest) throw new RevisionGone(after, this.#oldest)
    // Revisions in the log are consecutive, so the index of a change can be computed from its revision.
    const first = this.#log[0]?.revision ?? after
    const start = Math.max(0, after + 1 - first)
    return this.#log.slice(start, start + limit)
  }

  /** Returns the state at `revision` by undoing all later changes, newest first. */
  #stateAt(revision: Revision): Map<Key, Entry> {
    const state = new Map(this.#current)
    for (const change of this.#log.toReversed()) {
      if (change.revision <= revision) break
      if (change.previous === undefined) state.delete(change.key)
      else state.set(change.key, change.previous)
    }
    return state
  }

  #assertOpen(): void {
    if (this.#closed) throw new StoreError('the store is closed')
  }
}

/**
 * The store as a model: everything in plain maps of one process, lost with it. It says in the fewest words what the
 * contract means, and the other backends are compared with it operation by operation. For tests only.
 */
import { compareUtf8 } from '../base/utf8-order.ts'
import { assertWrite } from './key.ts'
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
  type WatchOptions,
  type Write,
} from './store.ts'
import { Tail } from './tail.ts'

export class MemoryStore implements Store {
  #log: Change[] = []
  #oldest: Revision = 1
  #closed = false
  readonly #current = new Map<Key, Entry>()
  readonly #tail = new Tail(1, { maxChanges: 100, maxBytes: 1024 * 1024 })

  async commit(write: Write): Promise<Committed | Conflict> {
    this.#assertOpen()
    assertWrite(write)
    const previous = this.#current.get(write.key)
    if ((previous?.revision ?? 0) !== write.expected) return { outcome: 'conflict', current: previous }
    const revision = this.#tail.revision + 1
    if (write.value === undefined) this.#current.delete(write.key)
    else this.#current.set(write.key, { key: write.key, revision, value: write.value })
    const change = { key: write.key, revision, value: write.value, previous }
    this.#log.push(change)
    this.#tail.append([change])
    return { outcome: 'committed', revision }
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

  async close(): Promise<void> {
    this.#closed = true
    this.#tail.end(new StoreError('the store is closed'))
  }

  #readLog(after: Revision, limit: number): readonly Change[] {
    if (after < this.#oldest) throw new RevisionGone(after, this.#oldest)
    return this.#log.filter((change) => change.revision > after).slice(0, limit)
  }

  /** Undoes the changes after `revision`, newest first. */
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

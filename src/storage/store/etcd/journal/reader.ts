/**
 * Reads changes to a key and old states from the journal. Each record contains the value that its change replaced. To
 * find the state of a key at a revision, the reader searches for the first change after that revision. The value that
 * this change replaced is the state. If there is no later change, the current state applies.
 *
 * The reader first reads the current state at one revision, and waits until the journal contains all changes up to that
 * revision. Records can be deleted while the reader works. The reader therefore stops at the first missing change of a
 * chain, and checks at the end whether a state is still complete.
 */
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import {
  type Bytes,
  type Entry,
  type JournalChange,
  type Key,
  type ListRange,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
} from '../../store.ts'
import type { Connection } from '../connection.ts'
import { readFailure } from '../failure.ts'
import type { KeyRange } from '../key-space.ts'
import { decodeRange, encodeRange, type KeyValue, methods, type RangeRequest } from '../messages.ts'
import { type ChangeRecord, readRecord } from './encoding.ts'
import type { ChangePlace, Layout } from './layout.ts'

export interface JournalReaderParts {
  readonly connection: Connection
  readonly layout: Layout
  /** Lists the state at a revision that is within the history window of the store. */
  readonly list: (range: ListRange) => Promise<Snapshot>
  /** Waits until the journal contains all changes up to the time of the call. Resolves to the start of the journal. */
  readonly keepUp: () => Promise<Revision>
}

type LocatedRecord = ChangePlace & ChangeRecord

/** The entry of a key. The value is undefined if the journal omits the value. */
interface KeyEntry {
  readonly revision: Revision
  readonly value: Bytes | undefined
}

/** Number of revisions to search at a time for changes to one key. */
const window = { first: 1024, largest: 65_536 }
const pageSize = 500
const valuesAtOnce = 8

export class JournalReader {
  readonly #parts: JournalReaderParts

  constructor(parts: JournalReaderParts) {
    this.#parts = parts
  }

  async changes(key: Key, before: Revision, limit: number): Promise<readonly JournalChange[]> {
    const now = await this.#parts.list({ prefix: key, limit: 1 })
    const floor = await this.#parts.keepUp()
    const top = Math.min(before, now.revision + 1)
    const present = now.entries.find((entry) => entry.key === key)
    const next = await this.#firstOf(key, top)
    let keyEntry = next === undefined ? present : await this.#replacedBy(next)
    const journalChanges: JournalChange[] = []
    if (keyEntry !== undefined && keyEntry.revision >= top) return journalChanges
    for await (const change of this.#newestFirst(key, top, floor)) {
      const { revision, deleted, note } = change
      // A change is missing here. Stop, because older records may describe an earlier incarnation of the key.
      if (deleted ? keyEntry !== undefined : keyEntry?.revision !== revision) break
      journalChanges.push({ revision, deleted, note, value: keyEntry?.value })
      if (journalChanges.length === limit) return journalChanges
      keyEntry = await this.#replacedBy(change)
    }
    if (keyEntry !== undefined && keyEntry.revision < top)
      journalChanges.push({ revision: keyEntry.revision, value: keyEntry.value, deleted: false, note: undefined })
    return journalChanges
  }

  async list(range: ListRange & { readonly revision: Revision }): Promise<Snapshot> {
    const { prefix, limit = Number.POSITIVE_INFINITY, revision } = range
    const { revision: now } = await this.#parts.list({ prefix, limit: 0 })
    if (revision > now) throw new RevisionAhead(revision, now)
    await this.#assertKnown(revision)
    const entries: Entry[] = []
    let after: Key | undefined = range.after
    for (let more = true; more && entries.length < limit; ) {
      const part: Part = await this.#part({ prefix, ...(after === undefined ? {} : { after }), now, past: revision })
      for (const entry of part.entries) entries.push(entry)
      after = part.through
      more = after !== undefined
    }
    await this.#assertKnown(revision)
    const page = entries.slice(0, limit)
    const remaining = entries.length - page.length + (after === undefined ? 0 : 1)
    return { revision, entries: page, remaining }
  }

  async #assertKnown(revision: Revision): Promise<void> {
    const floor = await this.#parts.keepUp()
    if (revision < floor) throw new RevisionGone(revision, floor)
  }

  /** Returns one page of the old state, starting after the key `after`. */
  async #part({ prefix, after, now, past }: PartRange): Promise<Part> {
    const from = { prefix, ...(after === undefined ? {} : { after }) }
    const present = await this.#parts.list({ ...from, revision: now, limit: pageSize })
    const lastPresent = present.remaining > 0 ? present.entries.at(-1)?.key : undefined
    const { changed, through } = await this.#changedSince({ ...from, now, past, through: lastPresent })
    const within = (key: Key) => through === undefined || compareUtf8(key, through) <= 0
    const unchanged = present.entries.filter(({ key }) => within(key) && !changed.has(key))
    const replaced = await this.#statesBefore([...changed.values()])
    const entries = [...unchanged, ...replaced].toSorted((a, b) => compareUtf8(a.key, b.key))
    return { entries, through }
  }

  /**
   * Finds the first change of each key after a revision, for the keys up to `through`. If there are too many changes
   * for one page, stops at an earlier key and returns that key as `through`.
   */
  async #changedSince({ prefix, after, now, past, through }: PartRange & { through: Key | undefined }) {
    const { layout } = this.#parts
    const changed = new Map<Key, LocatedRecord>()
    let range: KeyRange | undefined = layout.records(prefix, after)
    while (range !== undefined) {
      const records = await this.#records({ ...range, limit: pageSize })
      for (const record of records) {
        if (through !== undefined && compareUtf8(record.key, through) > 0) return { changed, through }
        if (record.revision > past && record.revision <= now && !changed.has(record.key))
          changed.set(record.key, record)
      }
      const last = records.at(-1)
      if (last === undefined || records.length < pageSize) break
      if (changed.size >= pageSize && changed.has(last.key)) return { changed, through: last.key }
      range = this.#rest(range, last, { isFound: changed.has(last.key), past })
    }
    return { changed, through }
  }

  /** Returns the rest of the range to scan, skipping the remaining changes to the current key. */
  #rest(
    { end }: KeyRange,
    { key, revision }: LocatedRecord,
    { isFound, past }: { isFound: boolean; past: Revision },
  ): KeyRange {
    const { layout } = this.#parts
    if (isFound) return { key: layout.records('', key).key, end }
    return { key: layout.record({ key, revision: Math.max(revision, past) + 1 }), end }
  }

  /**
   * Returns the entries that the keys had before the given changes. Absent keys are omitted. Values that the journal
   * omits are empty.
   */
  async #statesBefore(changes: readonly LocatedRecord[]): Promise<Entry[]> {
    const entries: Entry[] = []
    const replacements = changes.filter(({ replaced }) => replaced > 0)
    for (let i = 0; i < replacements.length; i += valuesAtOnce) {
      const some = replacements.slice(i, i + valuesAtOnce)
      const keyEntry = await Promise.all(some.map((change) => this.#replacedBy(change)))
      some.forEach(({ key, replaced }, at) => {
        entries.push({ key, revision: replaced, value: keyEntry[at]?.value ?? new Uint8Array(0) })
      })
    }
    return entries
  }

  /** Returns the entry that a change replaced, or undefined if the key was absent. */
  async #replacedBy(change: LocatedRecord): Promise<KeyEntry | undefined> {
    if (change.replaced === 0) return undefined
    if (!change.hasValue) return { revision: change.replaced, value: undefined }
    const [entry] = await this.#range({ key: this.#parts.layout.value(change) })
    return { revision: change.replaced, value: entry?.value }
  }

  /** Returns the first change to a key at or after a revision. */
  async #firstOf(key: Key, revision: Revision): Promise<LocatedRecord | undefined> {
    const range = this.#parts.layout.recordsOf(key, revision, Number.MAX_SAFE_INTEGER)
    const [record] = await this.#records({ ...range, limit: 1 })
    return record
  }

  async *#newestFirst(key: Key, before: Revision, floor: Revision): AsyncGenerator<LocatedRecord> {
    let end = before
    let size = window.first
    while (end > floor + 1) {
      const from = Math.max(floor + 1, end - size)
      const range = this.#parts.layout.recordsOf(key, from, end)
      const records = await this.#records({ ...range, limit: pageSize, descending: true })
      yield* records
      end = records.length === pageSize ? records.at(-1)!.revision : from
      size = Math.min(window.largest, size * 4)
    }
  }

  async #records(request: RangeRequest): Promise<LocatedRecord[]> {
    const entries = await this.#range(request)
    return entries.map(({ key, value }) => ({ ...this.#parts.layout.locationOf(key), ...readRecord(value) }))
  }

  async #range(request: RangeRequest): Promise<readonly KeyValue[]> {
    const { connection } = this.#parts
    try {
      return decodeRange(await connection.call(methods.range, encodeRange(request), { effect: 'read' })).entries
    } catch (error) {
      throw readFailure(error)
    }
  }
}

interface PartRange {
  readonly prefix: string
  readonly after?: Key
  /** The current revision `now`, and the revision `past` whose state is requested. */
  readonly now: Revision
  readonly past: Revision
}

interface Part {
  /** The entries of the state, sorted by key. */
  readonly entries: readonly Entry[]
  /** The last key that has been processed. Undefined if the whole range has been processed. */
  readonly through: Key | undefined
}

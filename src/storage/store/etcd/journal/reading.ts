/**
 * Reads the journal: the changes of a key, and states that were. A record says what its change replaced, so the state at
 * a revision is what the first change after it replaced and, where there is none, what is there now.
 *
 * What is there now is read first, at one revision, and what happened up to it is kept before records are read. They may
 * be forgotten meanwhile: a chain of changes is followed as far as it holds, and a state is checked again at the end.
 */
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import {
  type Bytes,
  type Entry,
  type Key,
  type ListRange,
  type Past,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
} from '../../store.ts'
import type { Connection } from '../connection.ts'
import { readFailure } from '../failure.ts'
import type { KeyRange } from '../key-space.ts'
import { decodeRange, encodeRange, type KeyValue, methods, type RangeRequest } from '../messages.ts'
import { type ChangeRecord, readRecord } from './form.ts'
import type { ChangePlace, Layout } from './layout.ts'

export interface ReadingParts {
  readonly connection: Connection
  readonly layout: Layout
  /** The state that the store itself can read. */
  readonly list: (range: ListRange) => Promise<Snapshot>
  /** Resolves to the oldest revision known, once all is kept that had happened by the call. */
  readonly keepUp: () => Promise<Revision>
}

type Found = ChangePlace & ChangeRecord

/** What a key held; the value is undefined where it was not kept. */
interface Held {
  readonly revision: Revision
  readonly value: Bytes | undefined
}

/** How many revisions are looked through at a time for changes of one key. */
const window = { first: 1024, largest: 65_536 }
const pageSize = 500
const valuesAtOnce = 8

export class JournalReading {
  readonly #parts: ReadingParts

  constructor(parts: ReadingParts) {
    this.#parts = parts
  }

  async changes(key: Key, before: Revision, limit: number): Promise<readonly Past[]> {
    const now = await this.#parts.list({ prefix: key, limit: 1 })
    const floor = await this.#parts.keepUp()
    const top = Math.min(before, now.revision + 1)
    const present = now.entries.find((entry) => entry.key === key)
    const next = await this.#firstOf(key, top)
    let held = next === undefined ? present : await this.#replacedBy(next)
    const found: Past[] = []
    if (held !== undefined && held.revision >= top) return found
    for await (const change of this.#newestFirst(key, top, floor)) {
      const { revision, deleted, note } = change
      // A change is missing: what is older may be another story.
      if (deleted ? held !== undefined : held?.revision !== revision) break
      found.push({ revision, deleted, note, value: held?.value })
      if (found.length === limit) return found
      held = await this.#replacedBy(change)
    }
    if (held !== undefined && held.revision < top)
      found.push({ revision: held.revision, value: held.value, deleted: false, note: undefined })
    return found
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
    const kept = entries.slice(0, limit)
    const remaining = entries.length - kept.length + (after === undefined ? 0 : 1)
    return { revision, entries: kept, remaining }
  }

  async #assertKnown(revision: Revision): Promise<void> {
    const floor = await this.#parts.keepUp()
    if (revision < floor) throw new RevisionGone(revision, floor)
  }

  /** The state of the next keys of a range. */
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

  /** The first change of each key after a revision, for keys up to `through`, which is moved down where there are many. */
  async #changedSince({ prefix, after, now, past, through }: PartRange & { through: Key | undefined }) {
    const { layout } = this.#parts
    const changed = new Map<Key, Found>()
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

  /** Where the scan goes on: a key with very many changes is not gone through. */
  #rest(
    { end }: KeyRange,
    { key, revision }: Found,
    { isFound, past }: { isFound: boolean; past: Revision },
  ): KeyRange {
    const { layout } = this.#parts
    if (isFound) return { key: layout.records('', key).key, end }
    return { key: layout.record({ key, revision: Math.max(revision, past) + 1 }), end }
  }

  /** What keys held before these changes, of those that held anything; empty where it was not kept. */
  async #statesBefore(changes: readonly Found[]): Promise<Entry[]> {
    const entries: Entry[] = []
    const wanted = changes.filter(({ replaced }) => replaced > 0)
    for (let i = 0; i < wanted.length; i += valuesAtOnce) {
      const some = wanted.slice(i, i + valuesAtOnce)
      const held = await Promise.all(some.map((change) => this.#replacedBy(change)))
      some.forEach(({ key, replaced }, at) => {
        entries.push({ key, revision: replaced, value: held[at]?.value ?? new Uint8Array(0) })
      })
    }
    return entries
  }

  /** Undefined: the key was absent. */
  async #replacedBy(change: Found): Promise<Held | undefined> {
    if (change.replaced === 0) return undefined
    if (!change.hasValue) return { revision: change.replaced, value: undefined }
    const [entry] = await this.#range({ key: this.#parts.layout.value(change) })
    return { revision: change.replaced, value: entry?.value }
  }

  /** The first change of a key at a revision or after it. */
  async #firstOf(key: Key, revision: Revision): Promise<Found | undefined> {
    const range = this.#parts.layout.recordsOf(key, revision, Number.MAX_SAFE_INTEGER)
    const [record] = await this.#records({ ...range, limit: 1 })
    return record
  }

  async *#newestFirst(key: Key, before: Revision, floor: Revision): AsyncGenerator<Found> {
    let [end, size] = [before, window.first]
    while (end > floor + 1) {
      const from = Math.max(floor + 1, end - size)
      const range = this.#parts.layout.recordsOf(key, from, end)
      const records = await this.#records({ ...range, limit: pageSize, descending: true })
      yield* records
      end = records.length === pageSize ? records.at(-1)!.revision : from
      size = Math.min(window.largest, size * 4)
    }
  }

  async #records(request: RangeRequest): Promise<Found[]> {
    const entries = await this.#range(request)
    return entries.map(({ key, value }) => ({ ...this.#parts.layout.placeOf(key), ...readRecord(value) }))
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
  /** The present, and the revision whose state is wanted. */
  readonly now: Revision
  readonly past: Revision
}

interface Part {
  /** In the order of keys. */
  readonly entries: readonly Entry[]
  /** All keys up to this one have been looked at; undefined: all of the range. */
  readonly through: Key | undefined
}

/**
 * Reads the journal in the store's thread. The log serves as the journal: for each change, it contains the note and the
 * replaced value until compaction deletes the log record. To find the changes to one key, the code reads `current` and
 * `history`. The latter has a record for each replaced version.
 */

import { Packer } from '../pack.ts'
import { type JournalChange, type Key, maxReservedKeys, type Note, type Revision } from '../store.ts'
import { logRecordAt } from './read.ts'
import {
  cutKey,
  heldRevision,
  isSound,
  readLogRecord,
  readMark,
  readRevision,
  revisionKey,
  type State,
  type Tables,
  versionKey,
} from './tables.ts'

const maxBytes = 1024 * 1024

/** The changes to read from the log: those before a revision, up to a maximum number. */
export interface JournalRange {
  readonly before: Revision
  readonly limit: number
  /** The oldest revision whose state the journal can return. */
  readonly floor: Revision
}

/**
 * Returns the changes to a key before a revision, newest first. Returns as many changes as fit into one slice, and at
 * least one change if any exist. Throws StoreError if a record is damaged.
 */
export function readJournalChanges(tables: Tables, key: Key, { before, limit, floor }: JournalRange): ArrayBuffer {
  const packer = new Packer(16 * 1024)
  let count = 0
  for (const change of journalChangesOf(tables, Buffer.from(key), { before, floor })) {
    if (count === limit || (count > 0 && packer.size >= maxBytes)) break
    pack(packer, change)
    count++
  }
  return packer.finish()
}

function pack(packed: Packer, { revision, deleted, note, value }: JournalChange): void {
  packed.number(revision)
  packed.number(deleted ? 1 : 0)
  packed.number(note?.time ?? 0)
  packed.bytes(note?.text ?? noBytes)
  packed.number(value === undefined ? 0 : 1)
  if (value !== undefined) packed.bytes(value)
}

const noBytes = new Uint8Array(0)

function* journalChangesOf(
  tables: Tables,
  key: Buffer,
  { before, floor }: { before: Revision; floor: Revision },
): Generator<JournalChange> {
  const currentRecord = tables.current.get(key)
  if (currentRecord !== undefined && isSound(key, currentRecord) && heldRevision(currentRecord) < before) {
    const revision = heldRevision(currentRecord)
    const value = Buffer.copyBytesFrom(currentRecord, 8)
    yield { revision, value, deleted: false, note: noteAt(tables, revision, floor) }
  }
  const newestFirst = { start: versionKey(key, before - 1), end: versionKey(key, 0), reverse: true }
  const versions = tables.history.getRange(newestFirst).map(({ key: version, value }) => ({
    revision: readRevision(version as Buffer, key.length + 1),
    replacedAt: readRevision(value, 0),
  }))
  for (const { revision, replacedAt } of versions) {
    if (replacedAt <= floor) return
    const replacing = logRecordAt(tables, replacedAt)
    const value = replacing.reduced ? undefined : Buffer.from(replacing.replaced)
    if (replacing.deletes && replacedAt < before)
      yield { revision: replacedAt, value: undefined, deleted: true, note: replacing.note }
    yield { revision, value, deleted: false, note: noteAt(tables, revision, floor) }
  }
}

/** Returns the note of a change, or undefined if the change has no note or its record has been deleted. */
function noteAt(tables: Tables, revision: Revision, floor: Revision): Note | undefined {
  return revision <= floor ? undefined : logRecordAt(tables, revision).note
}

/** Returns the oldest revision whose state the journal can return. */
export function floorOf(tables: Tables, { oldest }: State): Revision {
  const first = firstAfter(tables, 0)
  return Math.max(readMark(tables.meta, cutKey), first === undefined ? oldest : Math.min(oldest, first - 1))
}

function firstAfter({ log }: Tables, revision: Revision): Revision | undefined {
  for (const key of log.getKeys({ start: revisionKey(revision + 1), limit: 1 })) return readRevision(key as Buffer, 0)
  return undefined
}

/**
 * Finds the newest revision at a given time with a binary search. Returns undefined if the time is before the oldest
 * retained change.
 */
export function revisionAt(tables: Tables, state: State, time: number): Revision | undefined {
  let low = floorOf(tables, state)
  let high = state.revision
  const isBefore = (revision: Revision) => (timeAfter(tables, revision) ?? Number.POSITIVE_INFINITY) <= time
  if (!isBefore(low - 1)) return undefined
  // Invariant: changes up to `low` were made by the given time, and changes after `high` were made later.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (isBefore(middle - 1)) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * Maximum number of consecutive changes without a note. Changes to reserved and released keys have no notes. They
 * directly precede the change by the write itself, which has a note.
 */
const maxWithoutNote = maxReservedKeys + 1

/** Returns the time of the first change with a note after a revision. */
function timeAfter({ log }: Tables, after: Revision): number | undefined {
  for (const { key, value } of log.getRange({ start: revisionKey(after + 1), limit: maxWithoutNote })) {
    const note = readLogRecord(readRevision(key as Buffer, 0), value)?.note
    if (note !== undefined) return note.time
  }
  return undefined
}

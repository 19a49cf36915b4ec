/**
 * Periodic work in the store's thread: expiry deletes keys whose lifetime has ended, and compaction deletes changes
 * before the history window. Each step is one transaction.
 */

import { Packer } from '../pack.ts'
import { type Bytes, type Revision, StoreFull } from '../store.ts'
import { type DiskReservation, needOfChange, needOfRemoval } from './disk-reservation.ts'
import type { JournalBounds } from './messages.ts'
import {
  formatVersion,
  heldRevision,
  type LogRecord,
  logRecord,
  readLogRecord,
  readMark,
  readRevision,
  reducedKey,
  remove,
  revisionKey,
  type State,
  type Tables,
  versionKey,
  write,
  writeFormat,
  writeState,
} from './tables.ts'
import { type Applied, apply, checkSoleWriter, type Place, takeRoom } from './write.ts'

/** An entry of the table `expiry` whose expiry time has passed. */
export interface Due {
  readonly record: Buffer
  readonly key: Buffer
}

/**
 * Maximum size of an expiry step. A step ends at the limit that it reaches first, but processes at least one record.
 */
const expiryStep = { records: 50, bytes: 1024 * 1024 }

/** Returns the first entries of the table `expiry` whose expiry time has passed. */
export function readDue({ expiry, current }: Tables, now: number): Due[] {
  const due: Due[] = []
  for (const { key, value } of expiry.getRange({ end: revisionKey(now + 1), limit: expiryStep.records })) {
    due.push({ record: Buffer.from(key), key: Buffer.from(value) })
  }
  let bytes = 0
  const reach = due.findIndex(({ key }, i) => {
    bytes += current.get(key)?.length ?? 0
    return i > 0 && bytes > expiryStep.bytes
  })
  return reach === -1 ? due : due.slice(0, reach)
}

/**
 * Deletes keys that are due, each at the next revision, unless they were written again in the meantime. Deletes as many
 * keys as space allows. Throws StoreFull if there is not enough space to delete the first key.
 */
export function expireStep(
  tables: Tables,
  state: State,
  { due, room, now }: { due: readonly Due[]; room: DiskReservation; now: number },
): { state: State; changes: ArrayBuffer } {
  const changes = new Packer()
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state)
    const place = { tables, room, revision: state.revision, oldest: state.oldest }
    const done = due.findIndex((each) => !expireOne(place, each, { changes, now }))
    if (done === 0) throw new StoreFull('not enough space to delete an expired key')
    const next = { format: formatVersion, revision: place.revision, oldest: place.oldest }
    if (next.revision === state.revision) return { state, changes: changes.finish() }
    if (state.format !== formatVersion) writeFormat(tables.meta)
    writeState(tables.meta, next)
    return { state: next, changes: changes.finish() }
  })
}

/** Deletes one expired key. Returns false if there is not enough space. */
function expireOne(place: Place, { record, key }: Due, { changes, now }: { changes: Packer; now: number }): boolean {
  const { tables } = place
  const currentRecord = tables.current.get(key)
  const previous = readRevision(record, 8)
  const stands = currentRecord !== undefined && heldRevision(currentRecord) === previous
  const trace = takeRoom(place.room, { value: undefined, replaced: stands ? currentRecord.length : 0, claims: 1 })
  if (trace === undefined) return false
  if (stands) {
    const revision = ++place.revision
    const replaced = packDeletion(changes, { revision, previous, key, replaced: currentRecord.subarray(8) })
    // The note of an expiry has a time but no text, because the store itself made the change.
    apply(tables, { revision, previous, replaced, key, value: undefined, note: { time: now, text: noBytes } }, trace)
    if (trace === 'none') place.oldest = revision
  }
  remove(tables.expiry, record)
  return true
}

/** Adds the deletion of a key to a block of changes. Returns the copy of its value in the block. */
function packDeletion(
  changes: Packer,
  { revision, previous, key, replaced }: Omit<Applied, 'value'> & { replaced: Bytes },
): Bytes {
  changes.number(revision)
  changes.number(1)
  changes.bytes(key)
  changes.number(previous)
  return changes.bytes(replaced)
}

const recordsAtATime = 64

export interface Compaction {
  readonly oldest: Revision
  /**
   * Changes are deleted up to this revision, which is lower than `oldest` while a reader still uses older revisions.
   */
  readonly upTo: Revision
  readonly budgetMs: number
  readonly room: DiskReservation
  /** The retention limits of the journal. Undefined if there is no journal. */
  readonly journal: JournalBounds | undefined
}

/**
 * Deletes some changes older than `oldest` in one transaction, for about `budgetMs` and as long as there is enough
 * space. Deletes log records up to `upTo` and the versions that they replaced. Changes that the journal retains stay in
 * the log, without the values that the journal excludes. `more` means that another step is needed. Throws StoreFull if
 * there is not enough space to delete a single record. Always writes the state. Pages become reusable two transactions
 * after they were freed, so another step makes the pages of the previous step usable.
 */
export function compactStep(
  tables: Tables,
  state: State,
  { oldest, upTo, budgetMs, room, journal }: Compaction,
): { state: State; more: boolean } {
  const end = performance.now() + budgetMs
  const log = logSize(tables)
  const excess = journal === undefined ? 0 : log.bytes - journal.bytes
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state)
    const next = { ...state, oldest: Math.max(state.oldest, oldest) }
    writeState(tables.meta, next)
    for (let [all, freed] = [0, 0]; ; ) {
      const logRecords = oldestRecords(tables, upTo)
      const firstKeptIndex = logRecords.findIndex(({ record, size }) => {
        const stays = journal !== undefined && freed >= excess && (record?.note?.time ?? 0) >= journal.since
        if (!stays) freed += Math.max(size, log.average)
        return stays
      })
      const records = firstKeptIndex === -1 ? logRecords : logRecords.slice(0, firstKeptIndex)
      const done = records.findIndex((record) => !forget(tables, record, room))
      if (all === 0 && done === 0) throw new StoreFull('not enough space to compact old revisions')
      all += records.length
      if (done !== -1 || performance.now() >= end) return { state: next, more: true }
      if (firstKeptIndex !== -1) return { state: next, more: reduce(tables, { upTo, journal: journal!, room }) }
      if (records.length === 0) return { state: next, more: false }
    }
  })
}

/**
 * Returns the size of the log, including the newest changes. The size is based on whole pages, because a record larger
 * than about one kilobyte has its own pages.
 */
function logSize({ log }: Tables): { bytes: number; average: number } {
  const { treeLeafPageCount, overflowPages, pageSize, entryCount } = log.getStats() as {
    [name in 'treeLeafPageCount' | 'overflowPages' | 'pageSize' | 'entryCount']: number
  }
  const bytes = (treeLeafPageCount + overflowPages) * pageSize
  return { bytes, average: bytes / Math.max(1, entryCount) }
}

/**
 * Scans part of the log and drops the values that the journal excludes. Returns whether more of the log remains to be
 * scanned.
 */
function reduce(
  tables: Tables,
  { upTo, journal, room }: { upTo: Revision; journal: JournalBounds; room: DiskReservation },
): boolean {
  if (journal.withoutValues.length === 0) return false
  const from = readMark(tables.meta, reducedKey) + 1
  const logRecords = recordsIn(tables, {
    start: revisionKey(from),
    end: revisionKey(upTo + 1),
    limit: 4 * recordsAtATime,
  })
  let lastRevision = from - 1
  for (const { revision, record } of logRecords) {
    const isFor = record !== undefined && journal.withoutValues.some((prefix) => startsWith(record.key, prefix))
    if (isFor && !record.reduced && record.previous !== 0) {
      if (!room.take(needOfChange(0, 0), { frees: true })) break
      write(tables.log, revisionKey(revision), logRecord(revision, { ...record, replaced: noBytes, reduced: true }))
    }
    lastRevision = revision
  }
  if (lastRevision >= from) write(tables.meta, reducedKey, revisionKey(lastRevision))
  return lastRevision >= from && logRecords.length === 4 * recordsAtATime
}

const noBytes = new Uint8Array(0)

function startsWith(key: Buffer, prefix: string): boolean {
  return key.subarray(0, prefix.length).toString('latin1') === prefix
}

interface FoundRecord {
  readonly revision: Revision
  readonly size: number
  readonly record: LogRecord | undefined
}

function recordsIn({ log }: Tables, range: { start?: Bytes; end: Bytes; limit: number }): FoundRecord[] {
  const logRecords: FoundRecord[] = []
  for (const { key, value } of log.getRange(range as object)) {
    const revision = readRevision(key as Buffer, 0)
    // Use the value immediately, because the next read overwrites it.
    logRecords.push({ revision, size: value.length, record: readLogRecord(revision, value) })
  }
  return logRecords
}

function oldestRecords(tables: Tables, upTo: Revision): FoundRecord[] {
  return recordsIn(tables, { end: revisionKey(upTo + 1), limit: recordsAtATime })
}

/**
 * Deletes a log record and the version that it replaced. Returns false if there is not enough space. A damaged record
 * does not reveal which version it replaced, so the entry of that version in `history` remains.
 */
function forget({ log, history }: Tables, { revision, record }: FoundRecord, room: DiskReservation): boolean {
  if (!room.take(needOfRemoval(), { frees: true })) return false
  remove(log, revisionKey(revision))
  if (record !== undefined && record.previous !== 0) remove(history, versionKey(record.key, record.previous))
  return true
}

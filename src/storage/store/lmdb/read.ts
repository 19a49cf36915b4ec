/**
 * Reads in the store's thread: list slices, counts and log slices. The size of every slice is limited, so that commits
 * can run between slices. Together, the slices of a list contain exactly the state at the list's revision.
 *
 * The state at revision R consists of two parts: the entries of `current` that were written at or before R, and the
 * versions in `history` that were written at or before R and replaced later. Both tables are traversed in key order,
 * with one lookup per key regardless of the number of versions.
 */

import { Packer } from '../pack.ts'
import { type Bytes, type Key, type Revision, StoreError } from '../store.ts'
import type { CountReply, ListReply, SliceRange } from './messages.ts'
import {
  heldRevision,
  isSound,
  type Lent,
  type LogRecord,
  readLogRecord,
  readRevision,
  revisionKey,
  type Tables,
  versionKey,
} from './tables.ts'

/**
 * Maximum sizes of a slice. A slice ends at the limit that it reaches first. All examined keys count toward the limits,
 * even if they did not exist at the revision.
 */
const listSlice = { keys: 500, bytes: 1024 * 1024 }
const countSlice = { keys: 5000, bytes: Number.POSITIVE_INFINITY }
const logSliceBytes = 1024 * 1024
/**
 * Maximum number of changes to undo when keys are counted at an older revision. If there are more changes, the keys are
 * traversed instead.
 */
const maxUndone = 2000

/** Returns the entry of one key as a packed block. The block is empty if the key is absent. */
export function getEntry({ current }: Tables, key: Key): ArrayBuffer {
  const packer = new Packer()
  const bytes = Buffer.from(key)
  const record = current.get(bytes)
  if (record !== undefined) {
    packer.number(heldRevision(record))
    packer.bytes(soundValue(bytes, record))
  }
  return packer.finish()
}

/**
 * Returns the value of a `current` record. If the record is damaged, returns an empty value, because no reader accepts
 * an empty value.
 */
function soundValue(key: Bytes, record: Lent): Buffer {
  return isSound(key, record) ? record.subarray(8) : record.subarray(0, 0)
}

/** Returns one slice of a list. A list at the newest revision reads only `current`. */
export function listEntries(tables: Tables, newest: Revision, range: SliceRange, limit: number): ListReply {
  if (range.revision === newest) return listNewest(tables, range, limit)
  const slice = readSlice(
    tables,
    newest,
    range,
    { keys: Math.min(limit, listSlice.keys), bytes: listSlice.bytes },
    true,
  )
  const page = slice.entries.slice(0, limit)
  const packer = new Packer(4096 + slice.bytes + 64 * page.length)
  for (const { key, revision, value } of page) {
    packer.number(revision)
    packer.bytes(key)
    packer.bytes(value!)
  }
  const resume = page.length < slice.entries.length ? page.at(-1)?.key : slice.resume
  return { entries: packer.finish(), resume: resume?.toString() }
}

/** Lists `current`. Entries are packed while they are read, without an intermediate copy. */
function listNewest({ current }: Tables, range: SliceRange, limit: number): ListReply {
  const { start, end } = keyRange(range)
  const packer = new Packer(256 * 1024)
  const keys = Math.min(limit, listSlice.keys)
  let readCount = 0
  let last: Buffer | undefined
  for (const { key, value } of current.getRange(end ? { start, end } : { start })) {
    // Read at least one key, so that every slice makes progress.
    if (last && (readCount >= keys || packer.size >= listSlice.bytes))
      return { entries: packer.finish(), resume: last.toString() }
    readCount++
    last = asBuffer(key)
    packer.number(heldRevision(value))
    packer.bytes(last)
    packer.bytes(soundValue(last, value))
  }
  return { entries: packer.finish(), resume: undefined }
}

/** Counts the keys in a range at a revision, either all keys in one step or only the keys of one slice. */
export function countEntries(tables: Tables, newest: Revision, range: SliceRange): CountReply {
  // lmdb's fast count reads all pages of the range at once. Use it only after all pages have been checked.
  if (!tables.isGuarded() && newest - range.revision <= maxUndone)
    return { count: countNewest(tables, range), resume: undefined }
  const { entries, resume } = readSlice(tables, newest, range, countSlice, false)
  return { count: entries.length, resume: resume?.toString() }
}

/**
 * Counts the keys at a revision with few later changes: starts from lmdb's fast count of current keys and undoes the
 * changes.
 */
function countNewest({ current, log }: Tables, range: SliceRange): number {
  const { start, end } = keyRange(range)
  const changesByKey = new Map<string, { readonly before: number; now: number }>()
  for (const { key: at, value } of log.getRange({ start: revisionKey(range.revision + 1) })) {
    const { key, previous, deletes } = soundRecord(readRevision(asBuffer(at), 0), value)
    if (Buffer.compare(key, start) < 0 || (end && Buffer.compare(key, end) >= 0)) continue
    const now = deletes ? 0 : 1
    const change = changesByKey.get(key.toString())
    if (change) change.now = now
    else changesByKey.set(key.toString(), { before: previous === 0 ? 0 : 1, now })
  }
  const count = current.getKeysCount(end ? { start, end } : { start })
  return [...changesByKey.values()].reduce((sum, { before, now }) => sum + before - now, count)
}

interface FoundEntry {
  readonly key: Buffer
  readonly revision: Revision
  readonly value: Buffer | undefined
}

interface Slice {
  readonly entries: FoundEntry[]
  readonly bytes: number
  /** The last key of this slice, after which the list continues. Undefined at the end of the range. */
  readonly resume: Buffer | undefined
}

interface Bounds {
  readonly keys: number
  readonly bytes: number
}

function readSlice(tables: Tables, newest: Revision, range: SliceRange, bounds: Bounds, values: boolean): Slice {
  const { start, end } = keyRange(range)
  const live = readCurrent(tables, range.revision, { start, end }, bounds, values)
  if (range.revision === newest) return live
  const replaced = readHistory(
    tables,
    range.revision,
    { start, end: live.resume ? after(live.resume) : end },
    bounds,
    values,
  )
  return merge(live, replaced)
}

interface KeyRange {
  readonly start: Buffer
  readonly end: Buffer | undefined
}

function readCurrent(
  { current }: Tables,
  at: Revision,
  { start, end }: KeyRange,
  bounds: Bounds,
  values: boolean,
): Slice {
  const entries: FoundEntry[] = []
  let bytes = 0
  let readCount = 0
  let last: Buffer | undefined
  for (const { key, value } of current.getRange(end ? { start, end } : { start })) {
    // Read at least one key, so that every slice makes progress.
    if (last && (readCount >= bounds.keys || bytes >= bounds.bytes)) return { entries, bytes, resume: last }
    readCount++
    last = asBuffer(key)
    const revision = heldRevision(value)
    const sound = isSound(last, value)
    if (revision > at && sound) continue
    entries.push({ key: last, revision, value: values ? Buffer.copyBytesFrom(soundValue(last, value)) : undefined })
    bytes += value.length
  }
  return { entries, bytes, resume: undefined }
}

// Number of old versions of a key to skip one by one before searching for the next key.
const stepsBeforeJump = 4

/**
 * Returns the entries that existed at the revision but have since been replaced or deleted. Their versions are in
 * `history`.
 */
function readHistory(tables: Tables, at: Revision, { start, end }: KeyRange, bounds: Bounds, values: boolean): Slice {
  const entries: FoundEntry[] = []
  let bytes = 0
  let readCount = 0
  let last: Buffer | undefined
  let from: Buffer | undefined = start
  while (from) {
    let jump: Buffer | undefined
    let steps = 0
    for (const version of tables.history.getKeys(end ? { start: from, end } : { start: from })) {
      const key = asBuffer(version).subarray(0, version.length - 9)
      if (last?.equals(key)) {
        if (++steps < stepsBeforeJump) continue
        jump = after(last)
        break
      }
      if (last && (readCount >= bounds.keys || bytes >= bounds.bytes)) return { entries, bytes, resume: last }
      readCount++
      steps = 0
      last = key
      const entry = versionAt(tables, key, at, values)
      if (entry === undefined) continue
      entries.push(entry)
      bytes += entry.value?.length ?? 0
    }
    from = jump
  }
  return { entries, bytes, resume: undefined }
}

/** Returns the version of a key that was written at or before revision `at` and replaced later. */
function versionAt(tables: Tables, key: Buffer, at: Revision, values: boolean): FoundEntry | undefined {
  const newestFirst = { start: versionKey(key, at), end: versionKey(key, 0), reverse: true, limit: 1 }
  for (const { key: version, value } of tables.history.getRange(newestFirst)) {
    const replacedAt = readRevision(value, 0)
    if (replacedAt <= at) return undefined
    const revision = readRevision(asBuffer(version), key.length + 1)
    const replaced = values ? Buffer.copyBytesFrom(replacedBy(tables, replacedAt, { key, revision })) : undefined
    return { key, revision, value: replaced }
  }
  return undefined
}

/**
 * Merges both slices in key order, up to the last key that both slices cover. No key is in both slices, because an
 * entry in `current` has not been replaced.
 */
function merge(live: Slice, replaced: Slice): Slice {
  if (replaced.entries.length === 0 && replaced.resume === undefined) return live
  const resume = replaced.resume ?? live.resume
  const inReach = ({ key }: FoundEntry) => resume === undefined || Buffer.compare(key, resume) <= 0
  const entries = [...live.entries, ...replaced.entries].filter(inReach).sort((a, b) => Buffer.compare(a.key, b.key))
  return { entries, bytes: live.bytes + replaced.bytes, resume }
}

function keyRange({ prefix, after: last }: SliceRange): KeyRange {
  const start = Buffer.from(prefix)
  const end = endOfPrefix(start)
  const next = last === undefined ? undefined : after(Buffer.from(last))
  if (next && Buffer.compare(next, start) > 0) return { start: next, end }
  return { start: start.length > 0 ? start : Buffer.of(1), end }
}

/**
 * Returns the smallest byte string that sorts after a key and all its versions, without skipping any other key. Keys
 * contain no NUL.
 */
function after(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(1)])
}

// Returns the end of the key range with the given prefix. UTF-8 contains no byte 255, so the last byte can be
// incremented.
function endOfPrefix(prefix: Buffer): Buffer | undefined {
  if (prefix.length === 0) return undefined
  const end = Buffer.from(prefix)
  end[end.length - 1]! += 1
  return end
}

/** Returns changes after a revision. Returns at least one change, unless there are no changes after the revision. */
export function readLog(tables: Tables, after: Revision, limit: number): ArrayBuffer {
  const packer = new Packer(64 * 1024)
  for (const revision of logRevisions(tables, after, limit)) {
    if (packer.size >= logSliceBytes) break
    packRecord(tables, revision, packer)
  }
  return packer.finish()
}

function packRecord(tables: Tables, revision: Revision, packed: Packer): void {
  const { previous, deletes, key, replaced } = logRecordAt(tables, revision)
  packed.number(revision)
  packed.number(deletes ? 1 : 0)
  packed.bytes(key)
  packed.number(previous)
  // Copy the replaced value now, because the next read overwrites lmdb's buffer.
  if (previous !== 0) packed.bytes(replaced)
  if (!deletes) packed.bytes(writtenAt(tables, key, revision))
}

function logRevisions({ log }: Tables, after: Revision, limit: number): Revision[] {
  const entries: Revision[] = []
  for (const key of log.getKeys({ start: revisionKey(after + 1), limit })) entries.push(readRevision(asBuffer(key), 0))
  return entries
}

function writtenAt(tables: Tables, key: Buffer, revision: Revision): Buffer {
  const record = tables.current.get(key)
  if (record !== undefined && heldRevision(record) === revision) return soundValue(key, record)
  const replacedAt = tables.history.get(versionKey(key, revision))
  if (replacedAt === undefined)
    throw new StoreError(`the data file is damaged: version ${revision} of a key is missing`)
  return replacedBy(tables, readRevision(replacedAt, 0), { key, revision })
}

/**
 * Returns the value of a key's version that was replaced at the revision `at`. Throws StoreError if the log record
 * belongs to another version.
 */
function replacedBy(tables: Tables, at: Revision, { key, revision }: { key: Buffer; revision: Revision }): Lent {
  const { replaced, ...record } = logRecordAt(tables, at)
  if (!record.key.equals(key) || record.previous !== revision)
    throw new StoreError(`the data file is damaged: change ${at} belongs to another key`)
  return replaced
}

/** Returns the log record of a revision. Throws StoreError if the record is missing or damaged. */
export function logRecordAt({ log }: Tables, revision: Revision): LogRecord {
  const record = log.get(revisionKey(revision))
  if (record === undefined) throw new StoreError(`the data file is damaged: change ${revision} is missing`)
  return soundRecord(revision, record)
}

function soundRecord(revision: Revision, bytes: Lent): LogRecord {
  const record = readLogRecord(revision, bytes)
  if (record === undefined)
    throw new StoreError(`the data file is damaged: the checksum of revision ${revision} does not match`)
  return record
}

function asBuffer(bytes: Bytes): Buffer {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
}

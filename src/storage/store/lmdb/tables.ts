/**
 * The tables of the LMDB file and the layout of their keys and values.
 *
 *   current  key                     -> check, revision, value
 *   log      revision                -> check, previous revision, flags, key, note, previous value
 *   history  key, NUL, revision      -> the revision that replaced it, whose log record has the value
 *   expiry   due time, revision      -> key
 *   meta     'format'                -> format version;  'state' -> revision, oldest kept revision, checksum;
 *            'reader'                -> the oldest version of orch that reads this format
 *            'unfinished'            -> number of entries that have been loaded;
 *            'cut'                   -> revision of the last change without a record: nothing before it can be read
 *            'reduced'               -> the log has dropped values that the journal excludes up to this revision
 *
 * Revisions are eight bytes, big-endian, so that they sort as bytes. Keys contain no NUL, so the versions of a key are
 * adjacent in `history` and in the order of `current`. Replaced values are stored in the log, which grows sequentially.
 * If they were sorted by key, each value would cost a page. The store does not interpret values, so the readers of the
 * values verify them. The store verifies only the fields that it adds itself. A check is a two-byte checksum in the
 * bytes that the six-byte revision next to it leaves free. A check of 0 marks records that were written before checks
 * existed (format 1, which is still readable).
 *
 * A record of `expiry` is valid only while its key still has the recorded revision. A commit that replaces or removes a
 * lifetime therefore need not find the old record. If a directory has no such table, an empty table is created. A
 * program that does not know the table ignores it, and no keys expire while that program uses the file.
 */
import { crc32 } from 'node:zlib'
import { open, type RootDatabase } from 'lmdb'
import { type Bytes, type Note, type Revision, StoreError } from '../store.ts'
import { unfinishedText } from '../store-load.ts'
import { type Guarding, guardedTable, plainTable, type Table } from './guarded-table.ts'

export const formatVersion = 3
/** The oldest version of orch that can read the current format. Change it together with the format. */
const readerVersion = '0.1.0'

/**
 * A value in lmdb's own buffer, which the next read overwrites. The value must be used or copied before the next read.
 */
export type Lent = Buffer

export interface Tables {
  readonly root: RootDatabase<Buffer, Bytes>
  readonly current: Table
  readonly history: Table
  readonly log: Table
  readonly expiry: Table
  readonly meta: Table
  /** Whether pages must still be verified before each read, which makes long reads slow. */
  isGuarded(): boolean
}

export interface State {
  /** The format version in the file. The first commit upgrades the file to the current format. */
  readonly format: number
  readonly revision: Revision
  /** The start of the history window. */
  readonly oldest: Revision
}

const formatKey = Buffer.from('format')
const readerKey = Buffer.from('reader')
const stateKey = Buffer.from('state')
/** Key of a record that marks a file as incomplete while it is being loaded (load-directory.ts). */
export const unfinishedKey = Buffer.from('unfinished')

// An lmdb encoding that does not convert values. lmdb passes its own buffer to `decode`, with the length of the value.
const rawValues = {
  encoder: {
    encode: (bytes: Bytes) => bytes,
    decode: (bytes: Buffer) => bytes.subarray(0, bytes.length),
  },
}

/** A guard that verifies pages before they are read. `onOpen` is called before anything is read or written. */
export interface OpenGuarding extends Guarding {
  onOpen(root: Tables['root']): void
}

/**
 * Opens the file, and creates the tables if the file is new. Rejects a file that has a newer format or is unfinished.
 */
export function openTables(directory: string, guarding?: OpenGuarding): Tables {
  const tables = openUnfinished(directory, guarding)
  if (tables.meta.get(unfinishedKey) !== undefined)
    throw new StoreError(`the data directory ${directory} is incomplete: ${unfinishedText}`)
  return tables
}

/**
 * Opens the file like `openTables`, but also accepts an unfinished file. For use by the code that completes such a
 * file.
 */
export function openUnfinished(directory: string, guarding?: OpenGuarding): Tables {
  const root = open<Buffer, Bytes>({
    path: directory,
    // `noSubdir` is false. Otherwise, lmdb would treat a directory with a dot in its name as the data file.
    noSubdir: false,
    // Overlapping syncs are disabled. Otherwise, readers could read a commit before it is durable, or even if its sync
    // failed.
    overlappingSync: false,
    keyEncoding: 'binary',
    maxDbs: 8,
    mapSize: 1024 ** 3,
    permissionsMode: 0o600,
    ...rawValues,
  } as Parameters<typeof open>[0] & { permissionsMode: number }) as RootDatabase<Buffer, Bytes>
  guarding?.onOpen(root)
  const table = (name: string) => {
    const opened = plainTable(root.openDB<Lent, Bytes>(name, { keyEncoding: 'binary', ...rawValues } as object))
    return guarding === undefined ? opened : guardedTable(name, opened, guarding)
  }
  const current = table('current')
  const history = table('history')
  const log = table('log')
  const isGuarded = () => guarding?.guard !== undefined
  const tables = { root, current, history, log, expiry: table('expiry'), meta: table('meta'), isGuarded }
  checkFormat(tables)
  return tables
}

function checkFormat({ root, meta }: Tables): void {
  const format = readFormat(meta)
  if (format !== undefined && format >= 1 && format <= formatVersion) return
  if (format !== undefined) {
    const reader = meta.get(readerKey)?.toString()
    const needed = reader === undefined ? 'the newer program' : `orch ${reader} or newer`
    throw new StoreError(`the data has format ${format}, but this program reads format ${formatVersion}: use ${needed}`)
  }
  root.transactionSync(() => {
    writeFormat(meta)
    writeState(meta, { format: formatVersion, revision: 1, oldest: 1 })
  })
}

function readFormat(meta: Tables['meta']): number | undefined {
  const bytes = meta.get(formatKey)
  if (bytes !== undefined && bytes.length !== 4)
    throw new StoreError('the data file is damaged: the format version is missing')
  return bytes?.readUInt32BE(0)
}

/**
 * Records the current format in the file. Older programs, which do not know checksums, can then no longer open the
 * file.
 */
export function writeFormat(meta: Tables['meta']): void {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(formatVersion)
  write(meta, formatKey, bytes)
  write(meta, readerKey, Buffer.from(readerVersion))
}

/** Returns the newest revision and the start of the history window. Throws StoreError if the record is damaged. */
export function readState(meta: Tables['meta']): State {
  const format = readFormat(meta) ?? formatVersion
  const bytes = meta.get(stateKey)
  const sound = bytes?.length === 20 ? crc32(bytes.subarray(0, 16)) === bytes.readUInt32BE(16) : bytes?.length === 16
  if (bytes === undefined || !sound) throw new StoreError('the data file is damaged: the state record is missing')
  return { format, revision: readRevision(bytes, 0), oldest: readRevision(bytes, 8) }
}

/** Writes the newest revision and the start of the history window, with their checksum. */
export function writeState(meta: Tables['meta'], state: State): void {
  const bytes = Buffer.alloc(20)
  writeRevision(bytes, state.revision, 0)
  writeRevision(bytes, state.oldest, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 16)), 16)
  write(meta, stateKey, bytes)
}

/** Writes a record within a transaction. A failure aborts the transaction. */
export function write(table: Table, key: Bytes, value: Bytes): void {
  const written = table.putSync(key, value)
  if (written !== true) throw new StoreError('the data file is damaged: cannot write a record')
}

/** Writes a record after all other records of its table. */
export function append(table: Table, key: Bytes, value: Bytes): void {
  const written = table.putSync(key, value, { append: true })
  if (written !== true) throw new StoreError('the data file is damaged: a later record already exists')
}

/** Deletes a record, which must exist. */
export function remove(table: Table, key: Bytes): void {
  const removed = table.removeSync(key)
  if (removed !== true) throw new StoreError('the data file is damaged: a record to delete is missing')
}

export function readRevision(bytes: Buffer, offset: number): Revision {
  return bytes.readUInt32BE(offset) * 2 ** 32 + bytes.readUInt32BE(offset + 4)
}

function writeRevision(bytes: Buffer, revision: Revision, offset: number): void {
  bytes.writeUInt32BE(Math.floor(revision / 2 ** 32), offset)
  bytes.writeUInt32BE(revision >>> 0, offset + 4)
}

/**
 * Returns the revision of a record of `current`, even if the record is damaged: a commit must specify this revision to
 * replace the record.
 */
export function heldRevision(record: Lent): Revision {
  // A record that is too short for the revision and its check is damaged.
  if (record.length < 8) return 1
  return record.readUInt16BE(2) * 2 ** 32 + record.readUInt32BE(4)
}

/** Writes the revision and the check into the eight bytes before a value in `current`. */
export function writeHeld(record: Buffer, key: Bytes, revision: Revision): void {
  writeRevision(record, revision, 0)
  record.writeUInt16BE(checkOf(key, revision), 0)
}

/** Whether the check of a `current` record matches its key and revision. */
export function isSound(key: Bytes, record: Lent): boolean {
  const check = record.length < 8 ? -1 : record.readUInt16BE(0)
  return check === 0 || check === checkOf(key, heldRevision(record))
}

/**
 * Computes a two-byte checksum over a key and its revision. The result is never 0, which marks records without a
 * checksum.
 */
function checkOf(key: Bytes, belonging: number): number {
  const sum = crc32(key, ((belonging % 2 ** 32) ^ Math.floor(belonging / 2 ** 32)) >>> 0)
  return ((sum >>> 16) ^ sum) & 0xffff || 1
}

/** Encodes a revision as a key of `log`. */
export function revisionKey(revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  writeRevision(bytes, revision, 0)
  return bytes
}

/** Encodes the key of a version in `history`. */
export function versionKey(key: Bytes, revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(key.length + 9)
  bytes.set(key)
  bytes[key.length] = 0
  writeRevision(bytes, revision, key.length + 1)
  return bytes
}

/**
 * Encodes the key of a record in `expiry`. Times are in milliseconds since 1970 and have eight bytes, like revisions.
 */
export function dueKey(due: number, revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(16)
  writeRevision(bytes, due, 0)
  writeRevision(bytes, revision, 8)
  return bytes
}

/** The content of a log record. */
export interface LoggedChange {
  readonly previous: Revision
  readonly deletes: boolean
  readonly key: Bytes
  readonly replaced: Bytes
  readonly note: Note | undefined
  /** Whether the replaced value was dropped because the journal excludes it. */
  readonly reduced?: boolean
}

export interface LogRecord extends LoggedChange {
  readonly previous: Revision
  readonly deletes: boolean
  readonly key: Buffer
  /** The replaced value. Empty if the change replaced no value. The bytes are valid only until the next read. */
  readonly replaced: Lent
  readonly reduced: boolean
}

const keyAt = 11
/** The flags of a log record. */
const flags = { deletes: 1, note: 2, reduced: 4 } as const
/** Size in bytes of a note's header, which contains the time and the length of the text. */
const noteHead = 10

/** Encodes a log record. `revision` is the revision of the change. */
export function logRecord(revision: Revision, change: LoggedChange): Buffer {
  const { previous, deletes, key, replaced, note, reduced = false } = change
  const noteSize = note === undefined ? 0 : noteHead + note.text.length
  const bytes = Buffer.allocUnsafe(keyAt + key.length + noteSize + replaced.length)
  writeRevision(bytes, previous, 0)
  bytes[8] = (deletes ? flags.deletes : 0) | (note ? flags.note : 0) | (reduced ? flags.reduced : 0)
  bytes.writeUInt16BE(key.length, 9)
  bytes.set(key, keyAt)
  if (note !== undefined) writeNote(bytes, note, keyAt + key.length)
  bytes.set(replaced, keyAt + key.length + noteSize)
  bytes.writeUInt16BE(logCheck(revision, bytes), 0)
  return bytes
}

function writeNote(bytes: Buffer, { time, text }: Note, at: number): void {
  writeRevision(bytes, time, at)
  bytes.writeUInt16BE(text.length, at + 8)
  bytes.set(text, at + noteHead)
}

/** Decodes a log record. Returns undefined if the record is damaged. */
export function readLogRecord(revision: Revision, bytes: Lent): LogRecord | undefined {
  const check = bytes.length < keyAt ? -1 : bytes.readUInt16BE(0)
  if (check !== 0 && (check < 0 || check !== logCheck(revision, bytes))) return undefined
  const noteAt = keyAt + bytes.readUInt16BE(9)
  const end = endOfNote(bytes)
  return {
    previous: heldRevision(bytes),
    deletes: (bytes[8]! & flags.deletes) !== 0,
    reduced: (bytes[8]! & flags.reduced) !== 0,
    key: Buffer.copyBytesFrom(bytes, keyAt, noteAt - keyAt),
    note:
      end === noteAt
        ? undefined
        : {
            time: readRevision(bytes, noteAt),
            text: Buffer.copyBytesFrom(bytes, noteAt + noteHead, end - noteAt - noteHead),
          },
    replaced: bytes.subarray(end),
  }
}

/** Returns the offset of the replaced value in a log record. */
function endOfNote(bytes: Buffer): number {
  const noteAt = keyAt + bytes.readUInt16BE(9)
  if ((bytes[8]! & flags.note) === 0) return noteAt
  return noteAt + noteHead > bytes.length ? bytes.length : noteAt + noteHead + bytes.readUInt16BE(noteAt + 8)
}

/** Computes the checksum of a log record's fields. The value is not included, because it has its own checksum. */
function logCheck(revision: Revision, bytes: Buffer): number {
  return checkOf(bytes.subarray(2, endOfNote(bytes)), revision)
}

/** Reads a single revision from `meta`. Returns 0 if the revision is absent. */
export function readMark(meta: Tables['meta'], key: Buffer): Revision {
  const bytes = meta.get(key)
  return bytes?.length === 8 ? readRevision(bytes, 0) : 0
}

/**
 * Key of the oldest readable revision. Earlier revisions cannot be read, because changes were made without a log
 * record.
 */
export const cutKey = Buffer.from('cut')
/** Key of the revision up to which the log has dropped the values that the journal excludes. */
export const reducedKey = Buffer.from('reduced')

/**
 * The tables of the LMDB file and how their keys and values are laid out.
 *
 *   current  key                     -> check, revision, value
 *   log      revision                -> check, previous revision, flags, key, note, previous value
 *   history  key, NUL, revision      -> the revision that replaced it, whose log record holds the value
 *   expiry   due time, revision      -> key
 *   meta     'format'                -> format version;  'state' -> revision, oldest kept revision, checksum;
 *            'unfinished'            -> how much was loaded of what the file is to hold;
 *            'cut'                   -> revision of the last change without a record: nothing before it can be read
 *            'reduced'               -> up to which revision the log has dropped values that are not for the journal
 *
 * Revisions are eight bytes, big-endian, so that they order as bytes. Keys hold no NUL, so the versions of a key lie
 * together in `history` and in the order of `current`. Replaced values lie in the log, where they are written one after
 * the other: in the order of keys each would cost a page of its own. Values are raw; what they mean is for others to
 * know and check. What this store adds to them it checks itself: a check is two bytes that the revision beside it, of
 * six, leaves free; 0 is that of records written before there were checks (format 1, which is still read).
 *
 * A record of `expiry` counts only while its key is still at its revision, so a commit that replaces a lifetime, or
 * takes it away, need not look for it. A directory without that table is given an empty one; a program that does not
 * know it leaves it alone, and nothing expires meanwhile.
 */
import { crc32 } from 'node:zlib'
import { type Database, open, type RootDatabase } from 'lmdb'
import { unfinishedText } from '../loading.ts'
import { type Bytes, type Note, type Revision, StoreError } from '../store.ts'

export const formatVersion = 3

/** Bytes as lmdb lends them: inside a buffer that the next read overwrites. Copy or use them up before. */
export type Lent = Buffer

export interface Tables {
  readonly root: RootDatabase<Buffer, Bytes>
  readonly current: Database<Lent, Bytes>
  readonly history: Database<Lent, Bytes>
  readonly log: Database<Lent, Bytes>
  readonly expiry: Database<Lent, Bytes>
  readonly meta: Database<Lent, Bytes>
}

export interface State {
  /** The format that the file is marked with; the first commit marks it with the present one. */
  readonly format: number
  readonly revision: Revision
  /** The oldest revision that can be listed and watched from. */
  readonly oldest: Revision
}

const formatKey = Buffer.from('format')
const stateKey = Buffer.from('state')
/** There while the file is being loaded (loading.ts): what is in it then is not complete. */
export const unfinishedKey = Buffer.from('unfinished')

// Values pass through as they are. lmdb lends its own buffer to `decode` and has set its length to the value's.
const rawValues = {
  encoder: {
    encode: (bytes: Bytes) => bytes,
    decode: (bytes: Buffer) => bytes.subarray(0, bytes.length),
  },
}

/** Opens the file, makes the tables in a new one, and refuses a file of a newer format or one that is unfinished. */
export function openTables(directory: string): Tables {
  const tables = openUnfinished(directory)
  if (tables.meta.get(unfinishedKey) !== undefined)
    throw new StoreError(`the data directory ${directory} is not complete: ${unfinishedText}`)
  return tables
}

/** The same for the one who completes it. */
export function openUnfinished(directory: string): Tables {
  const root = open<Buffer, Bytes>({
    path: directory,
    // Else a directory with a dot in its name is taken for the file.
    noSubdir: false,
    // Else a commit can be seen before it is durable, and can be seen although its sync failed.
    overlappingSync: false,
    keyEncoding: 'binary',
    maxDbs: 8,
    mapSize: 1024 ** 3,
    permissionsMode: 0o600,
    ...rawValues,
  } as Parameters<typeof open>[0] & { permissionsMode: number }) as RootDatabase<Buffer, Bytes>
  const table = (name: string) => root.openDB<Lent, Bytes>(name, { keyEncoding: 'binary', ...rawValues } as object)
  const [current, history, log] = [table('current'), table('history'), table('log')]
  const tables = { root, current, history, log, expiry: table('expiry'), meta: table('meta') }
  checkFormat(tables)
  return tables
}

function checkFormat({ root, meta }: Tables): void {
  const format = readFormat(meta)
  if (format !== undefined && format >= 1 && format <= formatVersion) return
  if (format !== undefined) {
    throw new StoreError(
      `the data has format ${format}, this program reads format ${formatVersion}: use the newer program`,
    )
  }
  root.transactionSync(() => {
    writeFormat(meta)
    writeState(meta, { format: formatVersion, revision: 1, oldest: 1 })
  })
}

function readFormat(meta: Tables['meta']): number | undefined {
  const bytes = meta.get(formatKey)
  if (bytes !== undefined && bytes.length !== 4) throw new StoreError('the data file is damaged: its format is missing')
  return bytes?.readUInt32BE(0)
}

/** From now on the file is not for programs that do not know checks. */
export function writeFormat(meta: Tables['meta']): void {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(formatVersion)
  write(meta, formatKey, bytes)
}

/** The revision that the file is at, and the oldest that is kept. Throws StoreError where the record is damaged. */
export function readState(meta: Tables['meta']): State {
  const format = readFormat(meta) ?? formatVersion
  const bytes = meta.get(stateKey)
  const sound = bytes?.length === 20 ? crc32(bytes.subarray(0, 16)) === bytes.readUInt32BE(16) : bytes?.length === 16
  if (bytes === undefined || !sound) throw new StoreError('the data file is damaged: its state is missing')
  return { format, revision: readRevision(bytes, 0), oldest: readRevision(bytes, 8) }
}

/** Writes both revisions with their checksum. */
export function writeState(meta: Tables['meta'], state: State): void {
  const bytes = Buffer.alloc(20)
  writeRevision(bytes, state.revision, 0)
  writeRevision(bytes, state.oldest, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 16)), 16)
  write(meta, stateKey, bytes)
}

/** Writes inside a transaction; what lmdb refuses aborts it. (lmdb declares no result of these two, but has one.) */
export function write(table: Database<Lent, Bytes>, key: Bytes, value: Bytes): void {
  const written: unknown = table.putSync(key, value as Buffer)
  if (written !== true) throw new StoreError('the data file is damaged: a record could not be written')
}

/** Writes a record after all others of its table. */
export function append(table: Database<Lent, Bytes>, key: Bytes, value: Bytes): void {
  const written: unknown = table.putSync(key, value as Buffer, { append: true })
  if (written !== true) throw new StoreError('the data file is damaged: a record is not the last')
}

/** Deletes a record that must be there. */
export function remove(table: Database<Lent, Bytes>, key: Bytes): void {
  const removed: unknown = table.removeSync(key)
  if (removed !== true) throw new StoreError('the data file is damaged: a record to delete is missing')
}

export function readRevision(bytes: Buffer, offset: number): Revision {
  return bytes.readUInt32BE(offset) * 2 ** 32 + bytes.readUInt32BE(offset + 4)
}

function writeRevision(bytes: Buffer, revision: Revision, offset: number): void {
  bytes.writeUInt32BE(Math.floor(revision / 2 ** 32), offset)
  bytes.writeUInt32BE(revision >>> 0, offset + 4)
}

/** The revision of a record of `current`, right or not: what a commit must name to replace it. */
export function heldRevision(held: Lent): Revision {
  // Only damage makes it that short.
  if (held.length < 8) return 1
  return held.readUInt16BE(2) * 2 ** 32 + held.readUInt32BE(4)
}

/** Puts revision and check into the eight bytes before a value. */
export function writeHeld(held: Buffer, key: Bytes, revision: Revision): void {
  writeRevision(held, revision, 0)
  held.writeUInt16BE(checkOf(key, revision), 0)
}

/** Whether a record of `current` lies under its key with its revision. */
export function isSound(key: Bytes, held: Lent): boolean {
  const check = held.length < 8 ? -1 : held.readUInt16BE(0)
  return check === 0 || check === checkOf(key, heldRevision(held))
}

/** Of a key and a number that belongs to it; never 0. */
function checkOf(key: Bytes, belonging: number): number {
  const sum = crc32(key, ((belonging % 2 ** 32) ^ Math.floor(belonging / 2 ** 32)) >>> 0)
  return ((sum >>> 16) ^ sum) & 0xffff || 1
}

/** A revision as a key of `log`. */
export function revisionKey(revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  writeRevision(bytes, revision, 0)
  return bytes
}

/** The key of a version in `history`. */
export function versionKey(key: Bytes, revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(key.length + 9)
  bytes.set(key)
  bytes[key.length] = 0
  writeRevision(bytes, revision, key.length + 1)
  return bytes
}

/** The key of a record in `expiry`. Times are milliseconds since 1970, eight bytes like revisions. */
export function dueKey(due: number, revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(16)
  writeRevision(bytes, due, 0)
  writeRevision(bytes, revision, 8)
  return bytes
}

/** What a record of the log is made of. */
export interface LoggedChange {
  readonly previous: Revision
  readonly deletes: boolean
  readonly key: Bytes
  readonly replaced: Bytes
  readonly note: Note | undefined
  /** Whether the replaced value was dropped. */
  readonly reduced?: boolean
}

export interface LogRecord extends LoggedChange {
  readonly previous: Revision
  readonly deletes: boolean
  readonly key: Buffer
  /** What the key held before, empty if nothing: lent. */
  readonly replaced: Lent
  readonly reduced: boolean
}

const keyAt = 11
/** The flags of a record. */
const flags = { deletes: 1, note: 2, reduced: 4 } as const
/** A note is its time, the length of its text, and the text. */
const noteHead = 10

/** `revision` is that of the change. */
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

/** Undefined where it is not what was written. */
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

/** Where the replaced value begins. */
function endOfNote(bytes: Buffer): number {
  const noteAt = keyAt + bytes.readUInt16BE(9)
  if ((bytes[8]! & flags.note) === 0) return noteAt
  return noteAt + noteHead > bytes.length ? bytes.length : noteAt + noteHead + bytes.readUInt16BE(noteAt + 8)
}

/** Of all but the value, which has its own. */
function logCheck(revision: Revision, bytes: Buffer): number {
  return checkOf(bytes.subarray(2, endOfNote(bytes)), revision)
}

/** A revision that is kept in `meta` by itself; 0 where there is none. */
export function readMark(meta: Tables['meta'], key: Buffer): Revision {
  const bytes = meta.get(key)
  return bytes?.length === 8 ? readRevision(bytes, 0) : 0
}

/** Nothing before this revision can be read: changes were made without a record. */
export const cutKey = Buffer.from('cut')
/** Up to this revision the log has dropped the values that are not for the journal. */
export const reducedKey = Buffer.from('reduced')

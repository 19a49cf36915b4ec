/**
 * The tables of the LMDB file and how their keys and values are laid out.
 *
 *   current  key                     -> revision, value
 *   log      revision                -> previous revision, 1 if the key was deleted, key, previous value
 *   history  key, NUL, revision      -> the revision that replaced it, whose log record holds the value
 *   expiry   due time, revision      -> key
 *   meta     'format'                -> format version;  'state' -> revision, oldest kept revision
 *
 * Revisions are eight bytes, big-endian, so that they order as bytes. Keys hold no NUL, so the versions of a key lie
 * together in `history` and in the order of `current`. Replaced values lie in the log, where they are written one after
 * the other: in the order of keys each would cost a page of its own. Values are raw; what they mean is for others to know and check.
 *
 * A record of `expiry` counts only while its key is still at its revision, so a commit that replaces a lifetime, or
 * takes it away, need not look for it. A directory without that table is given an empty one; a program that does not
 * know it leaves it alone, and nothing expires meanwhile.
 */
import { type Database, open, type RootDatabase } from 'lmdb'
import { type Bytes, type Revision, StoreError } from '../store.ts'

export const formatVersion = 1

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
  readonly revision: Revision
  /** The oldest revision that can be listed and watched from. */
  readonly oldest: Revision
}

const formatKey = Buffer.from('format')
const stateKey = Buffer.from('state')

// Values pass through as they are. lmdb lends its own buffer to `decode` and has set its length to the value's.
const rawValues = {
  encoder: {
    encode: (bytes: Bytes) => bytes,
    decode: (bytes: Buffer) => bytes.subarray(0, bytes.length),
  },
}

/** Opens the file, makes the tables in a new one, and refuses a file of a newer format. */
export function openTables(directory: string): Tables {
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
  const format = meta.get(formatKey)?.readUInt32BE(0)
  if (format === formatVersion) return
  if (format !== undefined) {
    throw new StoreError(
      `the data has format ${format}, this program reads format ${formatVersion}: use the newer program`,
    )
  }
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(formatVersion)
  root.transactionSync(() => {
    write(meta, formatKey, bytes)
    writeState(meta, { revision: 1, oldest: 1 })
  })
}

export function readState(meta: Tables['meta']): State {
  const bytes = meta.get(stateKey)
  if (bytes?.length !== 16) throw new StoreError('the data file is damaged: its state is missing')
  return { revision: readRevision(bytes, 0), oldest: readRevision(bytes, 8) }
}

export function writeState(meta: Tables['meta'], state: State): void {
  const bytes = Buffer.alloc(16)
  writeRevision(bytes, state.revision, 0)
  writeRevision(bytes, state.oldest, 8)
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

export function remove(table: Database<Lent, Bytes>, key: Bytes): void {
  const removed: unknown = table.removeSync(key)
  if (removed !== true) throw new StoreError('the data file is damaged: a record to delete is missing')
}

export function readRevision(bytes: Buffer, offset: number): Revision {
  return bytes.readUInt32BE(offset) * 2 ** 32 + bytes.readUInt32BE(offset + 4)
}

export function writeRevision(bytes: Buffer, revision: Revision, offset: number): void {
  bytes.writeUInt32BE(Math.floor(revision / 2 ** 32), offset)
  bytes.writeUInt32BE(revision >>> 0, offset + 4)
}

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

export interface LogRecord {
  readonly previous: Revision
  readonly deletes: boolean
  readonly key: Buffer
  /** What the key held before, empty if nothing: lent. */
  readonly replaced: Lent
}

const keyAt = 11

export function logRecord(previous: Revision, deletes: boolean, key: Bytes, replaced: Bytes): Buffer {
  const bytes = Buffer.allocUnsafe(keyAt + key.length + replaced.length)
  writeRevision(bytes, previous, 0)
  bytes[8] = deletes ? 1 : 0
  bytes.writeUInt16BE(key.length, 9)
  bytes.set(key, keyAt)
  bytes.set(replaced, keyAt + key.length)
  return bytes
}

export function readLogRecord(bytes: Lent): LogRecord {
  const size = bytes.readUInt16BE(9)
  return {
    previous: readRevision(bytes, 0),
    deletes: bytes[8] === 1,
    key: Buffer.copyBytesFrom(bytes, keyAt, size),
    replaced: bytes.subarray(keyAt + size),
  }
}

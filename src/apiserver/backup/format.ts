/**
 * The backup format: a single stream that is written and read in one pass with bounded memory.
 *
 *   "orch-backup\n"
 *   frames, each: type (1 byte), payload length (4 bytes, little endian), payload, CRC-32 of all these (4 bytes)
 *     1 header: JSON, describes the source of the backup (`BackupHeader`)
 *     2 entry: revision (8 bytes), key length (2 bytes), both little endian, then the key and the value
 *     3 end: JSON, summary of the contents (`BackupContents`) with the SHA-256 of all bytes before this frame
 *
 * A backup without an end frame is truncated. Entries are trustworthy only once the end frame has been read. The reader
 * yields entries before the end and throws an error at the end if the checksum or the counts differ.
 */
import { createHash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { isObject, type Json, type JsonObject, setKey } from '../../api/json/json.ts'
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import type { Entry } from '../../storage/store/store.ts'
import { BackupError } from './backup-error.ts'

/** Metadata of a backup. */
export interface BackupHeader {
  readonly format: number
  /** Profile of the store. The profile cannot change because it determines the API names. */
  readonly profile: string
  /** Store revision of the snapshot in the backup. */
  readonly revision: number
  /** Creation time of the backup. */
  readonly created: string
  /** Version of the program that wrote the backup. */
  readonly program: string
  /**
   * Kubernetes version of the store. Undefined in backups that were written by versions of this program that emulated
   * only 1.23.
   */
  readonly kubernetesVersion?: string
}

/** Summary of a backup's contents. */
export interface BackupContents {
  readonly entries: number
  readonly bytes: number
  /** Number of objects by type, such as `pods` or `deployments.apps`. */
  readonly types: { readonly [type: string]: number }
  readonly sha256: string
}

/** Format version that this program writes. */
export const backupFormat = 1
const magic = Buffer.from('orch-backup\n')
const frames = { header: 1, entry: 2, end: 3 } as const
const headBytes = 5
const checkBytes = 4
/** Maximum size of a frame in bytes. No entry of any store is larger. */
const maxFrameBytes = 64 * 1024 * 1024
/** Approximate size in bytes of the chunks that the writer produces. */
const chunkBytes = 256 * 1024

/** Writes a backup in chunks. Returns a summary of the contents. */
export async function* writeBackup(
  header: BackupHeader,
  pages: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<Buffer, BackupContents> {
  const hash = createHash('sha256')
  const counts = new Contents()
  let chunk: Buffer[] = [magic, frameOf(frames.header, jsonBytes({ ...header }))]
  let size = 0
  const take = (): Buffer => {
    const joinedChunk = Buffer.concat(chunk)
    hash.update(joinedChunk)
    chunk = []
    size = 0
    return joinedChunk
  }
  for await (const page of pages) {
    for (const entry of page) {
      counts.add(entry)
      const frame = entryFrame(entry)
      chunk.push(frame)
      size += frame.length
      if (size >= chunkBytes) yield take()
    }
  }
  yield take()
  const contents = counts.finish(hash)
  yield frameOf(frames.end, jsonBytes({ ...contents }))
  return contents
}

function jsonBytes(value: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(value))
}

function entryFrame({ key, revision, value }: Entry): Buffer {
  const name = Buffer.from(key)
  const payload = Buffer.allocUnsafe(10 + name.length + value.length)
  payload.writeBigUInt64LE(BigInt(revision), 0)
  payload.writeUInt16LE(name.length, 8)
  name.copy(payload, 10)
  payload.set(value, 10 + name.length)
  return frameOf(frames.entry, payload)
}

function frameOf(type: number, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + payload.length + checkBytes)
  frame[0] = type
  frame.writeUInt32LE(payload.length, 1)
  payload.copy(frame, headBytes)
  frame.writeUInt32LE(crc32(frame.subarray(0, headBytes + payload.length)), headBytes + payload.length)
  return frame
}

/** Counts entries, bytes and objects by type. */
class Contents {
  #entries = 0
  #bytes = 0
  readonly #types = new Map<string, number>()

  add({ key, value }: Entry): void {
    this.#entries++
    this.#bytes += key.length + value.length
    const type = typeOfKey(key)
    if (type !== undefined) this.#types.set(type, (this.#types.get(type) ?? 0) + 1)
  }

  finish(hash: Hash): BackupContents {
    const types: { [type: string]: number } = {}
    for (const [type, count] of [...this.#types].sort(([a], [b]) => compareUtf8(a, b))) setKey(types, type, count)
    return { entries: this.#entries, bytes: this.#bytes, types, sha256: hash.digest('hex') }
  }
}

/** Returns the type of an object key, such as `pods` or `deployments.apps`. Returns undefined for other keys. */
export function typeOfKey(key: string): string | undefined {
  const [place, group, plural] = key.split('/', 3)
  if (place !== 'objects' || !plural) return undefined
  return group === 'core' ? plural : `${plural}.${group!.replace(/\.$/, '')}`
}

/** Reads a backup: the header immediately, and the entries on demand. */
export class BackupReader {
  readonly header: BackupHeader
  /** Summary of the contents. Undefined until all entries have been read. */
  contents: BackupContents | undefined
  readonly #frames: FrameReader

  /** Starts reading a backup. Throws BackupError if the stream is not a backup or has an unsupported format. */
  static async open(chunks: AsyncIterable<Buffer>): Promise<BackupReader> {
    const reader = new FrameReader(chunks)
    try {
      const start = await reader.take(magic.length)
      if (!start.equals(magic)) throw new BackupError('the file is not an orch backup')
      reader.hash.update(start)
      const { type, payload } = await reader.frame()
      if (type !== frames.header) throw new BackupError('the backup is damaged: it has no header')
      return new BackupReader(reader, readHeader(parse(payload)))
    } catch (error) {
      await reader.close()
      throw error
    }
  }

  private constructor(reader: FrameReader, header: BackupHeader) {
    this.#frames = reader
    this.header = header
  }

  /**
   * Yields pages of entries. Throws BackupError if the backup is damaged or truncated. The error may be thrown only
   * after the last entry.
   */
  async *pages(): AsyncGenerator<readonly Entry[]> {
    try {
      yield* this.#pages()
    } finally {
      await this.#frames.close()
    }
  }

  async *#pages(): AsyncGenerator<readonly Entry[]> {
    const counts = new Contents()
    let page: Entry[] = []
    let size = 0
    for (;;) {
      const { type, payload } = await this.#frames.frame()
      if (type === frames.end) {
        if (page.length > 0) yield page
        this.contents = checkEnd(parse(payload), counts.finish(this.#frames.hash))
        return await this.#frames.assertEnd()
      }
      if (type !== frames.entry) throw new BackupError(`the backup is damaged: a part has unknown type ${type}`)
      const entry = readEntry(payload)
      counts.add(entry)
      page.push(entry)
      size += payload.length
      if (size < chunkBytes) continue
      yield page
      page = []
      size = 0
    }
  }
}

function readHeader(value: JsonObject): BackupHeader {
  const { format, profile, revision, created, program, kubernetesVersion } = value
  if (typeof format === 'number' && format > backupFormat)
    throw new BackupError(
      `the backup has format ${format}, but this program reads format ${backupFormat}: use the program version that created it (${String(program)}) or a newer version`,
    )
  const isSound =
    format === backupFormat &&
    typeof profile === 'string' &&
    Number.isSafeInteger(revision) &&
    typeof created === 'string' &&
    typeof program === 'string' &&
    (kubernetesVersion === undefined || typeof kubernetesVersion === 'string')
  if (!isSound) throw new BackupError('the backup is damaged: its header is invalid')
  const version = kubernetesVersion === undefined ? {} : { kubernetesVersion }
  return { format, profile, revision: revision as number, created, program, ...version }
}

function readEntry(payload: Buffer): Entry {
  const size = payload.length < 10 ? Number.POSITIVE_INFINITY : payload.readUInt16LE(8)
  if (payload.length < 10 + size)
    throw new BackupError('the backup is damaged: an entry is shorter than its declared length')
  return {
    revision: Number(payload.readBigUInt64LE(0)),
    key: payload.toString('utf8', 10, 10 + size),
    value: payload.subarray(10 + size),
  }
}

function checkEnd(declaredContents: JsonObject, actualContents: BackupContents): BackupContents {
  for (const name of ['entries', 'bytes', 'sha256'] as const)
    if (declaredContents[name] !== actualContents[name])
      throw new BackupError(
        `the backup is damaged: its trailer declares ${name} ${String(declaredContents[name])}, but ${actualContents[name]} was found`,
      )
  return actualContents
}

function parse(payload: Buffer): JsonObject {
  try {
    const value = JSON.parse(payload.toString()) as Json
    if (isObject(value)) return value
  } catch {
    // The check below reports this error, as for any other payload that is not a JSON object.
  }
  throw new BackupError('the backup is damaged: a part is not a JSON object')
}

/** Reads frames from a byte stream. */
class FrameReader {
  readonly #chunks: AsyncIterator<Buffer>
  /** The running hash of the backup. The end frame contains this hash, which does not cover the end frame itself. */
  readonly hash = createHash('sha256')
  #buffered: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Stops reading and closes the file. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  /** Returns exactly `size` bytes. Throws BackupError if the stream ends first. */
  async take(size: number): Promise<Buffer> {
    const parts = [this.#buffered]
    let length = this.#buffered.length
    while (length < size) {
      const { value, done } = await this.#chunks.next()
      if (done) throw new BackupError('the backup is truncated: create a new backup or use another one')
      parts.push(value)
      length += value.length
    }
    const all = parts.length === 1 ? this.#buffered : Buffer.concat(parts)
    this.#buffered = all.subarray(size)
    return all.subarray(0, size)
  }

  async frame(): Promise<{ type: number; payload: Buffer }> {
    const head = await this.take(headBytes)
    const size = head.readUInt32LE(1)
    if (size > maxFrameBytes) throw new BackupError('the backup is damaged: a part exceeds the maximum length')
    const rest = await this.take(size + checkBytes)
    const payload = rest.subarray(0, size)
    if (crc32(payload, crc32(head)) !== rest.readUInt32LE(size))
      throw new BackupError('the backup is damaged: a part does not match its checksum')
    if (head[0] !== frames.end) this.hash.update(head).update(rest)
    return { type: head[0]!, payload }
  }

  async assertEnd(): Promise<void> {
    const { done } = this.#buffered.length > 0 ? { done: false } : await this.#chunks.next()
    if (!done) throw new BackupError('the backup is damaged: there is data after its end')
  }
}

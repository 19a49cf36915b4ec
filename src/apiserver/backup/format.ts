/**
 * The form of a backup: one stream, written and read in one pass, in bounded memory.
 *
 *   "orch-backup\n"
 *   frames, each: 1 byte of type, 4 bytes of length (little endian), the payload, 4 bytes CRC-32 of all that
 *     1 header: JSON, what the backup is of (`BackupHeader`)
 *     2 entry: 8 bytes of revision, 2 of the length of the key (both little endian), the key, the value
 *     3 end: JSON, what the backup holds (`BackupContents`), with the SHA-256 of all bytes before this frame
 *
 * A backup without its end was cut short. What is read is not to be relied on before the end has been read: a reader
 * yields entries on the way, and throws where they turn out not to add up.
 */
import { createHash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { isObject, type Json, type JsonObject, setKey } from '../../api/json/json.ts'
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import type { Entry } from '../../storage/store/store.ts'
import { BackupError } from './backup-error.ts'

/** What a backup is of. */
export interface BackupHeader {
  readonly format: number
  /** The profile of the store: its names cannot change. */
  readonly profile: string
  /** The revision whose exact state it is. */
  readonly revision: number
  /** When it was made. */
  readonly created: string
  /** The version of the program that made it. */
  readonly program: string
}

/** What a backup holds. */
export interface BackupContents {
  readonly entries: number
  readonly bytes: number
  /** The number of objects of each type, as in `pods` or `deployments.apps`. */
  readonly types: { readonly [type: string]: number }
  readonly sha256: string
}

/** The format that this program writes. */
export const backupFormat = 1
const magic = Buffer.from('orch-backup\n')
const frames = { header: 1, entry: 2, end: 3 } as const
const headBytes = 5
const checkBytes = 4
/** More than any entry of any store has. */
const maxFrameBytes = 64 * 1024 * 1024
/** About so much is handed out at a time. */
const chunkBytes = 256 * 1024

/** Writes a backup, chunk by chunk. Returns what it holds. */
export async function* writeBackup(
  header: BackupHeader,
  pages: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<Buffer, BackupContents> {
  const hash = createHash('sha256')
  const counts = new Contents()
  let chunk: Buffer[] = [magic, frameOf(frames.header, jsonBytes({ ...header }))]
  let size = 0
  const take = (): Buffer => {
    const taken = Buffer.concat(chunk)
    hash.update(taken)
    chunk = []
    size = 0
    return taken
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

/** Counts what a backup holds. */
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

/** `pods`, `deployments.apps`; undefined for what is no object. */
export function typeOfKey(key: string): string | undefined {
  const [place, group, plural] = key.split('/', 3)
  if (place !== 'objects' || !plural) return undefined
  return group === 'core' ? plural : `${plural}.${group!.replace(/\.$/, '')}`
}

/** Reads a backup: its header at once, its entries as they are asked for. */
export class BackupReader {
  readonly header: BackupHeader
  /** Set when all entries have been read. */
  contents: BackupContents | undefined
  readonly #frames: FrameReader

  /** Throws BackupError for anything that is not a backup of a format that is known here. */
  static async open(chunks: AsyncIterable<Buffer>): Promise<BackupReader> {
    const reader = new FrameReader(chunks)
    try {
      const start = await reader.take(magic.length)
      if (!start.equals(magic)) throw new BackupError('this is not a backup of orch')
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

  /** Pages of some entries. Throws BackupError where the backup is damaged or cut short, in the end at the latest. */
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
      if (type !== frames.entry) throw new BackupError(`the backup is damaged: a part of the unknown type ${type}`)
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
  const { format, profile, revision, created, program } = value
  if (typeof format === 'number' && format > backupFormat)
    throw new BackupError(
      `the backup has format ${format}, and this program reads format ${backupFormat}: use the program that made it (${String(program)}) or a newer one`,
    )
  const isSound =
    format === backupFormat &&
    typeof profile === 'string' &&
    Number.isSafeInteger(revision) &&
    typeof created === 'string' &&
    typeof program === 'string'
  if (!isSound) throw new BackupError('the backup is damaged: its header is not one')
  return { format, profile, revision: revision as number, created, program }
}

function readEntry(payload: Buffer): Entry {
  const size = payload.length < 10 ? Number.POSITIVE_INFINITY : payload.readUInt16LE(8)
  if (payload.length < 10 + size) throw new BackupError('the backup is damaged: an entry is shorter than it says')
  return {
    revision: Number(payload.readBigUInt64LE(0)),
    key: payload.toString('utf8', 10, 10 + size),
    value: payload.subarray(10 + size),
  }
}

function checkEnd(told: JsonObject, found: BackupContents): BackupContents {
  for (const name of ['entries', 'bytes', 'sha256'] as const)
    if (told[name] !== found[name])
      throw new BackupError(
        `the backup is damaged: its end says ${name} ${String(told[name])}, but it is ${found[name]}`,
      )
  return found
}

function parse(payload: Buffer): JsonObject {
  try {
    const value = JSON.parse(payload.toString()) as Json
    if (isObject(value)) return value
  } catch {
    // It is none.
  }
  throw new BackupError('the backup is damaged: a part that should be an object is none')
}

/** Frames of a stream of bytes. */
class FrameReader {
  readonly #chunks: AsyncIterator<Buffer>
  /** Of all that was taken, but for the end. */
  readonly hash = createHash('sha256')
  #held: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Nothing is read any more: the file is closed. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  /** So many bytes. Throws BackupError where there are fewer. */
  async take(size: number): Promise<Buffer> {
    const parts = [this.#held]
    let length = this.#held.length
    while (length < size) {
      const { value, done } = await this.#chunks.next()
      if (done) throw new BackupError('the backup is cut short: make it again, or use another one')
      parts.push(value)
      length += value.length
    }
    const all = parts.length === 1 ? this.#held : Buffer.concat(parts)
    this.#held = all.subarray(size)
    return all.subarray(0, size)
  }

  async frame(): Promise<{ type: number; payload: Buffer }> {
    const head = await this.take(headBytes)
    const size = head.readUInt32LE(1)
    if (size > maxFrameBytes) throw new BackupError('the backup is damaged: a part is longer than any can be')
    const rest = await this.take(size + checkBytes)
    const payload = rest.subarray(0, size)
    if (crc32(payload, crc32(head)) !== rest.readUInt32LE(size))
      throw new BackupError('the backup is damaged: a part does not match its checksum')
    if (head[0] !== frames.end) this.hash.update(head).update(rest)
    return { type: head[0]!, payload }
  }

  async assertEnd(): Promise<void> {
    const { done } = this.#held.length > 0 ? { done: false } : await this.#chunks.next()
    if (!done) throw new BackupError('the backup is damaged: something follows its end')
  }
}

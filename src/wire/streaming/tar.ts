/**
 * Writes and reads tar archives (ustar, with PAX headers for long names) in chunks, for the `cp` command and its
 * counterpart in simulated containers. Entries read from an archive are untrusted: the caller must check their names.
 */
import { UsageError } from '../../base/flags/flags.ts'

const block = 512
/** Maximum size of an extension header. A path has at most 4,096 characters. */
const maxHeader = 64 * 1024

/** An entry of an archive: a file, a directory or a link. */
export interface Entry {
  readonly name: string
  readonly type: 'file' | 'directory' | 'link' | 'other'
  readonly mode: number
  readonly size: number
}

/** Returns the header of an entry, preceded by a PAX header if the name is long. */
export function entryHeader({ name, type, mode, size }: Entry, modified: number): Buffer {
  const head = plainHeader({ name, type, mode, size }, modified)
  if (Buffer.byteLength(name) <= 100) return head
  const record = paxRecord('path', name)
  const before = plainHeader({ name: 'PaxHeader', type: 'other', mode: 0o644, size: record.length }, modified)
  before.write('x', 156)
  return Buffer.concat([sealed(before), record, padding(record.length), head])
}

/** Returns a record in the format `LENGTH key=value\n`. LENGTH includes its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + String(rest).length
  if (String(length).length !== String(rest).length) length = rest + String(length).length
  return Buffer.from(`${length} ${key}=${value}\n`)
}

function plainHeader({ name, type, mode, size }: Entry, modified: number): Buffer {
  const header = Buffer.alloc(block)
  header.write(name.slice(0, 100), 0, 100)
  octal(header, { value: mode, at: 100, length: 8 })
  octal(header, { value: 0, at: 108, length: 8 })
  octal(header, { value: 0, at: 116, length: 8 })
  octal(header, { value: size, at: 124, length: 12 })
  octal(header, { value: modified, at: 136, length: 12 })
  header.write(type === 'directory' ? '5' : '0', 156)
  header.write('ustar\u000000', 257)
  return sealed(header)
}

function octal(header: Buffer, { value, at, length }: { value: number; at: number; length: number }): void {
  header.write(
    value
      .toString(8)
      .padStart(length - 1, '0')
      .slice(1 - length),
    at,
  )
}

/**
 * Sets the checksum of a header. The checksum is the sum of all bytes of the header. The checksum field itself counts
 * as spaces.
 */
function sealed(header: Buffer): Buffer {
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148)
  return header
}

/** Returns the padding that completes the last block of the content. */
export function padding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block)
}

/** The end of an archive: two blocks of zeros. */
export const endOfArchive = Buffer.alloc(2 * block)

/** Receives the entries of an archive while the archive is read. */
export interface Unpacker {
  /** Called at the start of an entry. Returns a function for the content, or undefined to skip the entry. */
  entry(entry: Entry): Promise<((data: Buffer) => Promise<void>) | undefined>
  /** Called after each entry, even if it is incomplete, and once more when reading ends. */
  end(): Promise<void>
}

/**
 * Reads an archive in chunks of any size. If the archive is invalid, ends the current entry, reads nothing further and
 * throws UsageError.
 */
export class TarReader {
  readonly #unpacker: Unpacker
  #buffer: Buffer = Buffer.alloc(0)
  #remainingBytes = 0
  #padding = 0
  #take: ((data: Buffer) => Promise<void>) | undefined
  #longName = ''
  #inEntry = false
  /** The first error. Everything after it is ignored. */
  #fault: { readonly error: unknown } | undefined

  constructor(unpacker: Unpacker) {
    this.#unpacker = unpacker
  }

  async write(data: Buffer): Promise<void> {
    if (this.#fault !== undefined) throw this.#fault.error
    this.#buffer = this.#buffer.length === 0 ? data : Buffer.concat([this.#buffer, data])
    try {
      while (await this.#step()) {}
    } catch (error) {
      this.#fault = { error }
      await this.#unpacker.end()
      throw error
    }
  }

  /** Ends the archive. Throws UsageError if an entry is incomplete. */
  async end(): Promise<void> {
    await this.#unpacker.end()
    if (this.#remainingBytes > 0 || this.#inEntry) throw new UsageError('the archive ended in the middle of a file')
  }

  /** Processes the next part of the received data. Returns whether more of the data can be processed. */
  async #step(): Promise<boolean> {
    if (this.#remainingBytes > 0) return await this.#content()
    if (this.#inEntry) {
      this.#inEntry = false
      this.#take = undefined
      await this.#unpacker.end()
    }
    if (this.#padding > 0) {
      if (this.#buffer.length < this.#padding) return false
      this.#buffer = this.#buffer.subarray(this.#padding)
      this.#padding = 0
      return true
    }
    return await this.#header()
  }

  async #content(): Promise<boolean> {
    if (this.#buffer.length === 0) return false
    const part = this.#buffer.subarray(0, this.#remainingBytes)
    this.#buffer = this.#buffer.subarray(part.length)
    this.#remainingBytes -= part.length
    await this.#take?.(part)
    return true
  }

  async #header(): Promise<boolean> {
    if (this.#buffer.length < block) return false
    const header = this.#buffer.subarray(0, block)
    if (header.every((byte) => byte === 0)) {
      this.#buffer = this.#buffer.subarray(block)
      return true
    }
    const size = numberAt(header, 124, 12)
    const letter = String.fromCharCode(header[156]!)
    if (letter === 'x' || letter === 'g' || letter === 'L' || letter === 'K') return this.#extension(letter, size)
    this.#buffer = this.#buffer.subarray(block)
    const entry = { name: this.#longName || nameAt(header), type: typeOf(letter), mode: numberAt(header, 100, 8), size }
    this.#longName = ''
    const hasContent = entry.type === 'file'
    this.#remainingBytes = hasContent ? size : 0
    this.#padding = hasContent ? padding(size).length : 0
    this.#inEntry = true
    this.#take = await this.#unpacker.entry({ ...entry, size: this.#remainingBytes })
    return true
  }

  /** Reads an extension header, which can contain a long name for the next entry. */
  #extension(letter: string, size: number): boolean {
    if (size > maxHeader) throw new UsageError('a header in the archive is too long')
    const whole = block + size + padding(size).length
    if (this.#buffer.length < whole) return false
    const text = this.#buffer.toString('utf8', block, block + size)
    this.#buffer = this.#buffer.subarray(whole)
    if (letter === 'L') this.#longName = text.replace(/\0.*$/s, '')
    if (letter === 'x') this.#longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1] ?? this.#longName
    return true
  }
}

function typeOf(letter: string): Entry['type'] {
  if (letter === '0' || letter === '\0' || letter === '7') return 'file'
  if (letter === '5') return 'directory'
  return letter === '1' || letter === '2' ? 'link' : 'other'
}

function nameAt(header: Buffer): string {
  const name = textAt(header, 0, 100)
  const prefix = header.toString('latin1', 257, 262) === 'ustar' ? textAt(header, 345, 155) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

function textAt(header: Buffer, at: number, length: number): string {
  return header.toString('utf8', at, at + length).replace(/\0.*$/s, '')
}

/** Reads a number, which is encoded as octal digits. A large number is encoded in binary and starts with a marker. */
function numberAt(header: Buffer, at: number, length: number): number {
  if ((header[at]! & 0x80) !== 0) return Number(header.readBigUInt64BE(at + length - 8))
  const text = textAt(header, at, length).trim()
  if (text === '') return 0
  if (!/^[0-7]+$/.test(text)) throw new UsageError('not a valid tar archive')
  return Number.parseInt(text, 8)
}

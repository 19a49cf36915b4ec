/**
 * Reads one HTTP/1.1 response from a connection, for calls with small responses that are needed as a whole. The reader
 * is strict: it rejects anything ambiguous, such as two lengths, a length next to chunked encoding, a folded header or
 * a bare line feed. It limits the size of the head, chunk lines, trailers and body. Error messages never contain
 * response data. All bytes except the body count as framing, including 1xx heads. The reader limits the total framing
 * of a response and does not store it.
 */
import { trimEndOf } from '../../../base/text/trim-end.ts'
import { CallError } from './call-error.ts'

const maxHeadBytes = 16 * 1024
const maxLineBytes = 1024
/**
 * Limit for a response without a body. Each byte of the body allows two more, as in Go, because chunks may be small.
 */
const maxFramingBytes = 64 * 1024
/** Maximum growth of the body buffer, so that it is not much larger than the body. */
const maxGrowthBytes = 1024 * 1024
const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const nothing: Buffer = Buffer.alloc(0)

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/
const headerLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/
const chunkLine = /^([0-9a-fA-F]{1,8})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/

/** Parses the next part of the available bytes. Returns false if more bytes are needed. */
type Part = () => boolean

export class AnswerReader {
  status = 0
  /** Headers by lower-case name. Of repeated headers, only the first is kept. */
  headers: ReadonlyMap<string, string> = new Map()
  /** Whether the connection can be reused after this response. */
  keepsConnection = false
  /** How long the server keeps an idle connection open; undefined if it does not say. */
  maxIdleMs: number | undefined
  readonly #maxBytes: number
  #unread = nothing
  #body = nothing
  #size = 0
  #framingBytes = 0
  /** Remaining bytes of the body or of the current chunk. */
  #left = 0
  #part: Part | undefined = () => this.#readHead()
  #endsWithConnection = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get body(): Buffer {
    return this.#body.subarray(0, this.#size)
  }

  /** Memory that this response takes. */
  get keptBytes(): number {
    return this.#body.length + this.#unread.length
  }

  /** Returns whether the response is complete. Throws CallError if it is malformed. */
  push(bytes: Buffer): boolean {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes])
    for (let goesOn = true; goesOn; ) goesOn = this.#part?.() ?? false
    // Even an empty view would keep the whole buffer in memory.
    if (this.#unread.length < bytes.length) this.#unread = Buffer.from(this.#unread)
    if (this.#part !== undefined) return false
    // Unexpected bytes after the response could be mistaken for the response to the next call.
    if (this.#unread.length > 0) this.keepsConnection = false
    return true
  }

  /** The server has closed the connection. Returns whether that completes the response. */
  end(): boolean {
    return this.#endsWithConnection
  }

  #readHead(): boolean {
    const lines = this.#take(headEnd, maxHeadBytes)?.split('\r\n')
    if (lines === undefined) return false
    const [, minor, status] = statusLine.exec(lines[0]!) ?? malformed()
    // An informational response, such as 103.
    if (status!.startsWith('1') && status !== '101') return true
    this.status = Number(status)
    this.headers = readHeaders(lines.slice(1))
    assertWanted(this.status, this.headers)
    const connection = this.headers.get('connection')?.toLowerCase() ?? ''
    this.keepsConnection = minor === '1' && !connection.includes('close')
    const [, seconds] = /\btimeout=(\d{1,6})\b/.exec(this.headers.get('keep-alive') ?? '') ?? []
    this.maxIdleMs = seconds === undefined ? undefined : 1000 * Number(seconds)
    this.#part = this.#bodyPart()
    return true
  }

  #bodyPart(): Part | undefined {
    const length = this.headers.get('content-length')
    const coding = this.headers.get('transfer-encoding')
    if (this.status === 204 || this.status === 304) return undefined
    if (coding !== undefined) {
      if (length !== undefined || coding.toLowerCase() !== 'chunked') malformed()
      return () => this.#readChunkLine()
    }
    if (length === undefined) return this.#untilEnd()
    if (!/^\d{1,15}$/.test(length)) malformed()
    this.#left = Number(length)
    return this.#left === 0 ? undefined : () => this.#readBody(undefined)
  }

  #untilEnd(): Part {
    this.#endsWithConnection = true
    this.keepsConnection = false
    return () => {
      this.#keep(this.#unread)
      this.#unread = nothing
      return false
    }
  }

  /** Reads the available part of the body or chunk. `next` parses what follows it. */
  #readBody(next: Part | undefined): boolean {
    const bytes = this.#unread.subarray(0, this.#left)
    this.#keep(bytes)
    this.#left -= bytes.length
    this.#unread = this.#unread.subarray(bytes.length)
    if (this.#left > 0) return false
    this.#part = next
    return next !== undefined
  }

  #readChunkLine(): boolean {
    const line = this.#take(lineEnd, maxLineBytes)
    if (line === undefined) return false
    this.#left = Number.parseInt((chunkLine.exec(line) ?? malformed())[1]!, 16)
    this.#part = this.#left === 0 ? () => this.#readTrailer() : () => this.#readBody(() => this.#readChunkEnd())
    return true
  }

  #readChunkEnd(): boolean {
    if (this.#unread.length < lineEnd.length) return false
    if (this.#take(lineEnd, 0) !== '') malformed()
    this.#part = () => this.#readChunkLine()
    return true
  }

  /** Trailers are checked and ignored. */
  #readTrailer(): boolean {
    const line = this.#take(lineEnd, maxLineBytes)
    if (line === undefined) return false
    if (line === '') this.#part = undefined
    else if (!headerLine.test(line)) malformed()
    return line !== ''
  }

  /** The text up to this delimiter; undefined if the delimiter has not arrived. */
  #take(end: Buffer, maxBytes: number): string | undefined {
    const at = this.#unread.indexOf(end)
    if (at > maxBytes || (at < 0 && this.#unread.length > maxBytes + end.length)) malformed()
    this.#framingBytes += at < 0 ? 0 : at + end.length
    if (this.#framingBytes > maxFramingBytes + 2 * this.#size)
      throw new CallError('answer', 'the answer has too many bytes that are not its body')
    if (at < 0) return undefined
    const text = this.#unread.toString('latin1', 0, at)
    this.#unread = this.#unread.subarray(at + end.length)
    return text
  }

  #keep(bytes: Buffer): void {
    const size = this.#size + bytes.length
    if (size > this.#maxBytes) throw new CallError('answer', `the answer has more than ${this.#maxBytes} bytes`)
    if (size > this.#body.length) {
      const growth = Math.min(this.#body.length, maxGrowthBytes)
      const larger = Buffer.allocUnsafe(Math.max(size, Math.min(this.#body.length + growth, this.#maxBytes)))
      this.#body.copy(larger, 0, 0, this.#size)
      this.#body = larger
    }
    bytes.copy(this.#body, this.#size)
    this.#size = size
  }
}

/** Headers that must not be repeated because they define the length of the body. */
const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

function readHeaders(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? malformed()
    const key = name!.toLowerCase()
    if (!headers.has(key)) headers.set(key, trimEndOf(value!.replace(/^[ \t]+/, ''), ' \t'))
    else if (framing.has(key)) malformed()
  }
  return headers
}

/** Rejects an unusable response without reading its body. */
function assertWanted(status: number, headers: ReadonlyMap<string, string>): void {
  const fault = headFault(status, headers.get('content-encoding'))
  if (fault !== undefined) throw new CallError('answer', fault)
}

function headFault(status: number, encoding = 'identity'): string | undefined {
  if (status >= 300 && status < 400) return `the answer is a redirect (${status}), which is not followed`
  if (status < 200 || status > 206) return `the answer has the status ${status}`
  return encoding === 'identity' ? undefined : 'the answer is compressed, which was not asked for'
}

function malformed(): never {
  throw new CallError('answer', 'the answer is not valid HTTP/1.1')
}

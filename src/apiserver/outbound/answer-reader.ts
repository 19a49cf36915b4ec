/**
 * Reads one answer of HTTP/1.1 from the bytes of a connection, for calls whose answers are small and wanted whole. Strict:
 * what could be read in two ways (two lengths, a length beside chunks, a folded header, a bare line feed) is no answer.
 * Bounded: in its head, in its chunk lines and trailers, and in its body. Nothing of it becomes part of an error.
 * Everything but the body is framing: heads with a status of 1xx too. The reader bounds the framing of an answer as a whole,
 * and keeps none of it.
 */
import { trimEndOf } from '../../base/text/trim-end.ts'
import { CallError } from './call-error.ts'

const maxHeadBytes = 16 * 1024
const maxLineBytes = 1024
/** Of an answer without a body. Every byte of a body permits two more, as in Go: chunks may be small. */
const maxFramingBytes = 64 * 1024
/** A body grows by this at most, so that it takes little more memory than it has bytes. */
const maxGrowthBytes = 1024 * 1024
const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const nothing: Buffer = Buffer.alloc(0)

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/
const headerLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/
const chunkLine = /^([0-9a-fA-F]{1,8})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/

/** Handles what comes next in the bytes at hand. Returns whether there was enough of them. */
type Part = () => boolean

export class AnswerReader {
  status = 0
  /** By names in lower case; of several of one name the first. */
  headers: ReadonlyMap<string, string> = new Map()
  /** Whether the connection may carry another call after this answer. */
  keepsConnection = false
  /** How long the other side keeps the connection open without another call; undefined: it does not say. */
  maxIdleMs: number | undefined
  readonly #maxBytes: number
  #unread = nothing
  #body = nothing
  #size = 0
  #framingBytes = 0
  /** How many bytes of the body, or of its present chunk, are yet to come. */
  #left = 0
  #part: Part | undefined = () => this.#readHead()
  #endsWithConnection = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get body(): Buffer {
    return this.#body.subarray(0, this.#size)
  }

  /** How much memory this answer takes. */
  get keptBytes(): number {
    return this.#body.length + this.#unread.length
  }

  /** Whether the answer is complete. Throws CallError for what is no answer. */
  push(bytes: Buffer): boolean {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes])
    for (let goesOn = true; goesOn; ) goesOn = this.#part?.() ?? false
    // A view of the bytes, even an empty one, would keep all of them in memory.
    if (this.#unread.length < bytes.length) this.#unread = Buffer.from(this.#unread)
    if (this.#part !== undefined) return false
    // What follows an answer that nobody asked for could be taken for the answer to the next call.
    if (this.#unread.length > 0) this.keepsConnection = false
    return true
  }

  /** The other side has ended the connection: whether the answer is complete by that. */
  end(): boolean {
    return this.#endsWithConnection
  }

  #readHead(): boolean {
    const lines = this.#take(headEnd, maxHeadBytes)?.split('\r\n')
    if (lines === undefined) return false
    const [, minor, status] = statusLine.exec(lines[0]!) ?? malformed()
    // An answer before the answer, such as 103.
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
    const [length, coding] = [this.headers.get('content-length'), this.headers.get('transfer-encoding')]
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

  /** As much as there is of the body or the chunk; `next` is what follows it. */
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

  /** Nothing in a trailer is of interest. */
  #readTrailer(): boolean {
    const line = this.#take(lineEnd, maxLineBytes)
    if (line === undefined) return false
    if (line === '') this.#part = undefined
    else if (!headerLine.test(line)) malformed()
    return line !== ''
  }

  /** The text up to this end; undefined while that has not come. */
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

/** How a body is framed must be said once; everything else is of no interest when it is repeated. */
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

/** Of an answer that is of no use the body is not read. */
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

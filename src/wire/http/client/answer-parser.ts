/**
 * Parses an HTTP/1.1 response from a connection and passes its head and the chunks of its body to a sink. The parser is
 * strict: it rejects ambiguous responses, such as those with two lengths, both a length and chunked encoding, a folded
 * header or a bare line feed. It limits the size of the head, of chunk lines and of trailers. Error messages never
 * contain response data. All bytes other than the body count as framing, including 1xx heads. The total framing of a
 * response is limited, and framing is not stored.
 */
import { trimEndOf } from '../../../base/text/trim-end.ts'
import { CallError } from './call-error.ts'

const maxHeadBytes = 16 * 1024
const maxLineBytes = 1024
/**
 * Maximum number of framing bytes of a response without a body. Each byte of the body allows two more framing bytes, as
 * in Go, because chunks may be small.
 */
const maxFramingBytes = 64 * 1024
const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const nothing: Buffer = Buffer.alloc(0)

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/
const headerLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/
const chunkLine = /^([0-9a-fA-F]{1,8})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/

/** Parses the next part of a response. Returns false if this part has not arrived completely. */
type Part = () => boolean

/** The part of a response that precedes its body: the status and the headers. */
export interface AnswerHead {
  readonly status: number
  /** Header values by lower-case name. If a header is repeated, only its first value is included. */
  readonly headers: ReadonlyMap<string, string>
  /** All headers as received: alternating names and values. */
  readonly rawHeaders: readonly string[]
}

/** Receives the parts of a response as they are parsed. */
export interface AnswerSink {
  /**
   * Receives the head of the response. To reject the response before its body is read, the method throws a CallError.
   */
  onHead(head: AnswerHead): void
  onBody(bytes: Buffer): void
}

/** Properties of a request that determine how the end of its response is recognized. */
export interface AnswerRules {
  /** Whether the request is a HEAD request. The response to a HEAD request has no body. */
  readonly isHead?: boolean
  /**
   * Returns whether a response with the given status changes the protocol of the connection. By default, no response
   * does.
   */
  readonly switchesAt?: ((status: number) => boolean) | undefined
  /**
   * Number of framing bytes per chunk that do not count toward the framing limit. Go exempts 16 bytes per chunk, so
   * that a long stream of small chunks is not rejected.
   */
  readonly freeChunkFraming?: number
}

/** Parses the response to one request. */
export class AnswerParser {
  /** Whether the connection can be reused after the response. */
  keepsConnection = false
  /**
   * How long the server keeps an idle connection open, in milliseconds. Undefined if the server does not announce this
   * time.
   */
  maxIdleMs: number | undefined
  /** Whether the connection now carries another protocol, to which the bytes in `unread` belong. */
  hasSwitched = false
  readonly #sink: AnswerSink
  readonly #rules: AnswerRules
  #unread = nothing
  #bodyBytes = 0
  #framingBytes = 0
  /** Number of bytes remaining until the end of the body or of the current chunk. */
  #remainingBytes = 0
  #part: Part | undefined = () => this.#readHead()
  #endsWithConnection = false

  constructor(sink: AnswerSink, rules: AnswerRules = {}) {
    this.#sink = sink
    this.#rules = rules
  }

  /** The bytes that have been received but not parsed. */
  get unread(): Buffer {
    return this.#unread
  }

  /**
   * Adds received bytes and returns whether the response is complete. Throws CallError if the response is malformed.
   */
  push(bytes: Buffer): boolean {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes])
    for (let goesOn = true; goesOn; ) goesOn = this.#part?.() ?? false
    // Copy the remaining bytes, because even an empty view would keep the whole buffer in memory.
    if (this.#unread.length < bytes.length) this.#unread = Buffer.from(this.#unread)
    if (this.#part !== undefined) return false
    // Do not reuse the connection, because the extra bytes could be mistaken for the response to the next request.
    if (this.#unread.length > 0) this.keepsConnection = false
    return true
  }

  /**
   * Called when the server has closed the connection. Returns whether this marks the end of the body and thus completes
   * the response.
   */
  end(): boolean {
    return this.#endsWithConnection
  }

  #readHead(): boolean {
    const lines = this.#take(headEnd, maxHeadBytes)?.split('\r\n')
    if (lines === undefined) return false
    const [, minor, status] = statusLine.exec(lines[0]!) ?? malformed()
    const head = new ParsedHead(Number(status), lines.slice(1))
    assertClearFraming(head)
    // Responses with a 1xx status, such as 103, precede the final response.
    if (status!.startsWith('1') && status !== '101') return true
    const { headers } = head
    const connection = headers.get('connection')?.toLowerCase() ?? ''
    this.keepsConnection = minor === '1' && !connection.includes('close')
    const [, seconds] = /\btimeout=(\d{1,6})\b/.exec(headers.get('keep-alive') ?? '') ?? []
    this.maxIdleMs = seconds === undefined ? undefined : 1000 * Number(seconds)
    this.hasSwitched = this.#rules.switchesAt?.(head.status) ?? false
    this.#part = this.hasSwitched ? undefined : this.#bodyPart(head)
    this.#sink.onHead(head)
    return this.#part !== undefined
  }

  #bodyPart({ status, headers }: AnswerHead): Part | undefined {
    const length = headers.get('content-length')
    const coding = headers.get('transfer-encoding')
    if (status === 204 || status === 304 || this.#rules.isHead) return undefined
    if (coding !== undefined) return () => this.#readChunkLine()
    if (length === undefined) return this.#untilEnd()
    this.#remainingBytes = Number(length)
    return this.#remainingBytes === 0 ? undefined : () => this.#readBody(undefined)
  }

  #untilEnd(): Part {
    this.#endsWithConnection = true
    this.keepsConnection = false
    return () => {
      const bytes = this.#unread
      this.#unread = nothing
      this.#pass(bytes)
      return false
    }
  }

  /** Passes on the part of the body or of the current chunk that has arrived. `next` parses the data after it. */
  #readBody(next: Part | undefined): boolean {
    const bytes = this.#unread.subarray(0, this.#remainingBytes)
    this.#remainingBytes -= bytes.length
    this.#unread = this.#unread.subarray(bytes.length)
    this.#pass(bytes)
    if (this.#remainingBytes > 0) return false
    this.#part = next
    return next !== undefined
  }

  #readChunkLine(): boolean {
    const line = this.#take(lineEnd, maxLineBytes)
    if (line === undefined) return false
    this.#remainingBytes = Number.parseInt((chunkLine.exec(line) ?? malformed())[1]!, 16)
    this.#framingBytes -= this.#rules.freeChunkFraming ?? 0
    this.#part =
      this.#remainingBytes === 0 ? () => this.#readTrailer() : () => this.#readBody(() => this.#readChunkEnd())
    return true
  }

  #readChunkEnd(): boolean {
    if (this.#unread.length < lineEnd.length) return false
    if (this.#take(lineEnd, 0) !== '') malformed()
    this.#part = () => this.#readChunkLine()
    return true
  }

  /** Parses a trailer. Trailers are validated but not passed on. */
  #readTrailer(): boolean {
    const line = this.#take(lineEnd, maxLineBytes)
    if (line === undefined) return false
    if (line === '') this.#part = undefined
    else if (!headerLine.test(line)) malformed()
    return line !== ''
  }

  /** Returns the text before a delimiter, or undefined if the delimiter has not arrived yet. */
  #take(end: Buffer, maxBytes: number): string | undefined {
    const at = this.#unread.indexOf(end)
    if (at > maxBytes || (at < 0 && this.#unread.length > maxBytes + end.length)) malformed()
    this.#framingBytes += at < 0 ? 0 : at + end.length
    if (this.#framingBytes > maxFramingBytes + 2 * this.#bodyBytes)
      throw new CallError('answer', 'the response has too many bytes outside its body')
    if (at < 0) return undefined
    const text = this.#unread.toString('latin1', 0, at)
    this.#unread = this.#unread.subarray(at + end.length)
    return text
  }

  #pass(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#bodyBytes += bytes.length
    this.#sink.onBody(bytes)
  }
}

/** Headers that determine the length of the body. They must not be repeated. */
const framing: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

class ParsedHead implements AnswerHead {
  readonly status: number
  readonly headers = new Map<string, string>()
  readonly rawHeaders: string[] = []

  constructor(status: number, lines: readonly string[]) {
    this.status = status
    for (const line of lines) this.#read(line)
  }

  #read(line: string): void {
    const [, name, text] = headerLine.exec(line) ?? malformed()
    const key = name!.toLowerCase()
    const value = trimEndOf(text!.replace(/^[ \t]+/, ''), ' \t')
    this.rawHeaders.push(name!, value)
    if (!this.headers.has(key)) this.headers.set(key, value)
    else if (framing.has(key)) malformed()
  }
}

/** Validates the headers that define the length of the body, even if the response has no body. */
function assertClearFraming({ headers }: AnswerHead): void {
  const length = headers.get('content-length')
  const coding = headers.get('transfer-encoding')
  if (coding !== undefined && (length !== undefined || coding.toLowerCase() !== 'chunked')) malformed()
  if (length !== undefined && !/^\d{1,15}$/.test(length)) malformed()
}

function malformed(): never {
  throw new CallError('answer', 'the response is not valid HTTP/1.1')
}

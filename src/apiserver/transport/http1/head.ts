/**
 * Parses the head of an HTTP/1.1 request: the request line and the headers. The parser is stricter than the standard,
 * because a proxy between client and server may interpret an ambiguous request differently. A request must have exactly
 * one version, one host and one definition of the body's length. Unusual line endings and continuation lines are not
 * allowed.
 */
import { fitsLine, isToken, withoutBlanks } from '../../../wire/http/header-line.ts'
import { maxHeaderBytes, maxParsedHeaders } from '../connection-limits.ts'

export interface RequestHead {
  readonly method: string
  /** The path and query, unmodified. */
  readonly target: string
  /** The headers, as alternating names and values. */
  readonly rawHeaders: readonly string[]
  /** Whether the request uses HTTP/1.0, whose clients do not support chunked responses. */
  readonly isOld: boolean
  /** Value of Content-Length, or 0 for a chunked body. */
  readonly length: number
  readonly isChunked: boolean
  /** Whether the connection stays open after the response. */
  readonly keepsAlive: boolean
  /** Whether the client waits for 100 Continue before it sends the body. */
  readonly isAsking: boolean
  /** The protocols that the client offers for an upgrade. */
  readonly upgrade: string | undefined
}

/** The status line of the error response to a request that cannot be parsed or is too large. */
export type Refusal = (typeof refusals)[keyof typeof refusals]

export const refusals = {
  bad: '400 Bad Request',
  /** The CONNECT method, which asks a proxy for a tunnel, is not supported. */
  tunnel: '405 Method Not Allowed',
  late: '408 Request Timeout',
  expectation: '417 Expectation Failed',
  large: '431 Request Header Fields Too Large',
} as const

/**
 * Matches a path, `*`, or an absolute URL. A space cannot occur, because the request line would then have more than
 * three parts.
 */
const targets = /^(?:\/[\x21-\x7e]*|\*|https?:\/\/[\x21-\x7e]+)$/i

/** Maximum size of headers to cache on a connection. Limits the memory of idle connections. */
const maxRemembered = 2048

/**
 * Parses the heads of the requests on one connection. Most clients repeat their headers, which are then parsed only
 * once.
 */
export class HeadParser {
  /** The headers of the last request, as sent and parsed. */
  #last: { readonly text: string; readonly headers: Headers } | undefined

  /** Parses a head, without its final empty line. */
  parse(text: string): RequestHead | Refusal {
    if (text.length > maxHeaderBytes) return refusals.large
    const lineEnd = text.indexOf(lineBreak)
    const first = lineEnd < 0 ? text : text.slice(0, lineEnd)
    const headers = this.#headersOf(lineEnd < 0 ? undefined : text.slice(lineEnd + lineBreak.length), text.length)
    if (headers === refusals.large) return headers
    const methodEnd = first.indexOf(' ')
    const targetEnd = first.length - versionLength
    if (methodEnd < 0 || targetEnd <= methodEnd) return refusals.bad
    const version = first.slice(targetEnd)
    const method = first.slice(0, methodEnd)
    const target = first.slice(methodEnd + 1, targetEnd)
    const isOld = version === ' HTTP/1.0'
    if (!(isOld || version === ' HTTP/1.1') || !isToken(method)) return refusals.bad
    if (method === 'CONNECT') return refusals.tunnel
    if (!targets.test(target)) return refusals.bad
    if (headers === refusals.bad || headers.hosts > 1 || (headers.hosts === 0 && !isOld)) return refusals.bad
    // HTTP/1.0 does not have chunked encoding. A proxy that supports only HTTP/1.0 would see a different body.
    if (headers.isChunked && (headers.length !== undefined || isOld)) return refusals.bad
    if (headers.expects !== undefined && headers.expects !== '100-continue') return refusals.expectation
    return headers.headOf({ method, target, isOld })
  }

  #headersOf(text: string | undefined, headLength: number): Headers | typeof refusals.large | typeof refusals.bad {
    if (text !== undefined && text === this.#last?.text) return this.#last.headers
    const lines = text?.split(lineBreak) ?? []
    if (lines.length >= maxParsedHeaders) return refusals.large
    const headers = new Headers()
    for (const line of lines) if (!headers.add(line)) return refusals.bad
    this.#last = text === undefined || headLength > maxRemembered ? undefined : { text, headers }
    return headers
  }
}

const lineBreak = '\r\n'

export function hasBody({ length, isChunked }: RequestHead): boolean {
  return isChunked || length > 0
}

const versionLength = ' HTTP/1.1'.length

/** Collects the headers of a request, and interprets the headers that control the connection. */
class Headers {
  readonly raw: string[] = []
  hosts = 0
  length: number | undefined
  isChunked = false
  /** The Expect header. Undefined if the client did not send it. */
  expects: string | undefined
  #connection = ''
  #upgrade: string | undefined

  /**
   * Adds a header line. Returns false if the line is not a valid header. An obsolete continuation line, which starts
   * with a space, is invalid because it has no name.
   */
  add(line: string): boolean {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0))
    if (!isToken(name) || !fitsLine(line)) return false
    const value = withoutBlanks(line, colon + 1)
    this.raw.push(name, value)
    return this.#notice(name, value, line)
  }

  /**
   * Interprets a header that controls the connection. Compares the length of the name first, because most headers are
   * irrelevant. A header that defines the body's length must not contain tabs, which some parsers do not skip.
   */
  #notice(name: string, value: string, line: string): boolean {
    switch (name.length) {
      case 4:
        if (is(name, 'host')) this.hosts++
        return true
      case 6:
        if (is(name, 'expect')) this.expects = value.toLowerCase()
        return true
      case 7:
        if (is(name, 'upgrade')) this.#upgrade = this.#upgrade === undefined ? value : `${this.#upgrade}, ${value}`
        return true
      case 10:
        if (is(name, 'connection')) this.#connection += `,${value.toLowerCase()}`
        return true
      case 14:
        return !is(name, 'content-length') || (!line.includes('\t') && this.#setLength(value))
      case 17:
        return !is(name, 'transfer-encoding') || (!line.includes('\t') && this.#setChunked(value))
      default:
        return true
    }
  }

  #setLength(value: string): boolean {
    if (this.length !== undefined || !/^\d{1,19}$/.test(value)) return false
    this.length = Number(value)
    return true
  }

  #setChunked(value: string): boolean {
    if (this.isChunked || value.toLowerCase() !== 'chunked') return false
    this.isChunked = true
    return true
  }

  headOf(line: Pick<RequestHead, 'method' | 'target' | 'isOld'>): RequestHead {
    const wishes = this.#connection === '' ? [] : this.#connection.split(',').map((wish) => wish.trim())
    return {
      ...line,
      rawHeaders: this.raw,
      length: this.length ?? 0,
      isChunked: this.isChunked,
      keepsAlive: !wishes.includes('close') && (!line.isOld || wishes.includes('keep-alive')),
      isAsking: this.expects !== undefined && !line.isOld,
      upgrade: wishes.includes('upgrade') ? this.#upgrade : undefined,
    }
  }
}

function is(name: string, lowerCaseName: string): boolean {
  return name === lowerCaseName || name.toLowerCase() === lowerCaseName
}

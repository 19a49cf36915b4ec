/**
 * The head of a request in HTTP/1.1: its first line and its headers. Stricter than the standard asks for, as a proxy
 * that passed on what can be read in two ways may have read it in the other one: one version, one host, one way to tell
 * how long the body is, and no line that is ended or continued in any but the usual way.
 */
import { fitsLine, isToken, withoutBlanks } from '../../../wire/http/header-line.ts'
import { maxHeaderBytes, maxParsedHeaders } from '../connection-limits.ts'

export interface RequestHead {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[]
  /** Whether it is of version 1.0: its client reads no answer in chunks. */
  readonly isOld: boolean
  /** How long the body is, where it does not come in chunks. */
  readonly length: number
  readonly isChunked: boolean
  /** Whether the client may send another request after the answer. */
  readonly keepsAlive: boolean
  /** Whether the client asks to be told that it may send the body. */
  readonly isAsking: boolean
  /** The protocols that the client would switch to. */
  readonly upgrade: string | undefined
}

/** The status of an answer to what is no request. */
export type Refusal = (typeof refusals)[keyof typeof refusals]

export const refusals = {
  bad: '400 Bad Request',
  /** No tunnels to other hosts. */
  tunnel: '405 Method Not Allowed',
  late: '408 Request Timeout',
  expectation: '417 Expectation Failed',
  large: '431 Request Header Fields Too Large',
} as const

/** A path, all of a server, or a whole address; no blanks, as the line would have more than three parts. */
const targets = /^(?:\/[\x21-\x7e]*|\*|https?:\/\/[\x21-\x7e]+)$/i

/** `text` is all of the head but the empty line after it. */
export function parseHead(text: string): RequestHead | Refusal {
  if (text.length > maxHeaderBytes) return refusals.large
  const lines = text.split('\r\n')
  if (lines.length > maxParsedHeaders) return refusals.large
  const [first = ''] = lines
  const methodEnd = first.indexOf(' ')
  const targetEnd = first.length - versionLength
  if (methodEnd < 0 || targetEnd <= methodEnd) return refusals.bad
  const version = first.slice(targetEnd)
  const [method, target] = [first.slice(0, methodEnd), first.slice(methodEnd + 1, targetEnd)]
  const isOld = version === ' HTTP/1.0'
  if (!(isOld || version === ' HTTP/1.1') || !isToken(method)) return refusals.bad
  if (method === 'CONNECT') return refusals.tunnel
  if (!targets.test(target)) return refusals.bad
  const headers = new Headers()
  for (let i = 1; i < lines.length; i++) if (!headers.add(lines[i]!)) return refusals.bad
  if (headers.hosts > 1 || (headers.hosts === 0 && !isOld)) return refusals.bad
  // The old version knows no chunks: a proxy that speaks it has read another body.
  if (headers.isChunked && (headers.length !== undefined || isOld)) return refusals.bad
  if (headers.expects !== undefined && headers.expects !== '100-continue') return refusals.expectation
  return headers.headOf({ method, target, isOld })
}

export function hasBody({ length, isChunked }: RequestHead): boolean {
  return isChunked || length > 0
}

const versionLength = ' HTTP/1.1'.length

/** Reads headers line by line, and keeps those that say how the connection is used. */
class Headers {
  readonly raw: string[] = []
  hosts = 0
  length: number | undefined
  isChunked = false
  /** What the client waits for before it sends the body. */
  expects: string | undefined
  #connection = ''
  #upgrade: string | undefined

  /** False where it is none. A line that begins with a blank, which once continued the one before, has no name. */
  add(line: string): boolean {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0))
    if (!isToken(name) || !fitsLine(line)) return false
    const value = withoutBlanks(line, colon + 1)
    this.raw.push(name, value)
    return this.#notice(name, value, line)
  }

  /** By their lengths, as most headers are others. How long a body is must be said without tabs, which not all skip. */
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

function is(name: string, wanted: string): boolean {
  return name === wanted || name.toLowerCase() === wanted
}

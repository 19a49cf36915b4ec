/**
 * Parses the head of an HTTP/2 request (RFC 9113, section 8). Pseudo-headers, whose names start with a colon, replace
 * the request line of HTTP/1.1. The checks are as strict as in `http1/head.ts`, because a proxy between client and
 * server may interpret an ambiguous request differently.
 */
import { fitsLine, isToken, withoutBlanks } from '../../../wire/http/header-line.ts'

export interface Http2Head {
  readonly method: string
  /** The path and query, unmodified. */
  readonly target: string
  /** The headers without pseudo-headers, as alternating names and values. `:authority` becomes the header `host`. */
  readonly rawHeaders: readonly string[]
}

const colon = 0x3a
/** The allowed pseudo-headers. Each pseudo-header may occur once, and pseudo-headers must precede all other headers. */
const own: ReadonlySet<string> = new Set([':method', ':scheme', ':path', ':authority'])
/** Headers that are specific to HTTP/1.1 connections and not allowed in HTTP/2. */
const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])
const targets = /^(?:\/[\x21-\x7e]*|\*)$/
/** Matches a host name or IP address with an optional port. */
const authorities = /^[\w!$%&'()*+,\-.:;=[\]~@]+$/
const capital = /[A-Z]/

/** Parses a head. `headers` contains alternating names and values. Returns undefined if the head is invalid. */
export function readHead(headers: readonly string[]): Http2Head | undefined {
  const start = endOfOwn(headers)
  const pseudoHeaders = ownOf(headers, start)
  const method = pseudoHeaders?.get(':method')
  const target = pseudoHeaders?.get(':path')
  if (method === undefined || target === undefined || !pseudoHeaders?.has(':scheme')) return undefined
  if (!isToken(method) || method === 'CONNECT' || !targets.test(target)) return undefined
  const authority = pseudoHeaders.get(':authority')
  const rawHeaders = othersOf(headers, start, authority)
  if (rawHeaders === undefined || !namesHost(authority, rawHeaders)) return undefined
  return { method, target, rawHeaders }
}

function endOfOwn(headers: readonly string[]): number {
  let end = 0
  while (end < headers.length && headers[end]!.charCodeAt(0) === colon) end += 2
  return end
}

function ownOf(headers: readonly string[], end: number): ReadonlyMap<string, string> | undefined {
  const pseudoHeaders = new Map<string, string>()
  for (let i = 0; i < end; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    if (!own.has(name) || pseudoHeaders.has(name) || !fitsLine(value)) return undefined
    pseudoHeaders.set(name, value)
  }
  return pseudoHeaders
}

/**
 * Returns the regular headers. `:authority`, which takes precedence over `host` (RFC 9113), becomes the header `host`.
 */
function othersOf(headers: readonly string[], start: number, authority: string | undefined): string[] | undefined {
  const others = authority === undefined ? [] : ['host', authority]
  for (let i = start; i < headers.length; i += 2) {
    const name = headers[i]!
    const value = headers[i + 1]!
    if (!isToken(name) || capital.test(name) || !fitsLine(value) || ofConnection.has(name)) return undefined
    if (name === 'te' && value.toLowerCase() !== 'trailers') return undefined
    if (name !== 'host' || authority === undefined) others.push(name, withoutBlanks(value))
  }
  return others
}

function namesHost(authority: string | undefined, headers: readonly string[]): boolean {
  if (authority !== undefined) return authorities.test(authority)
  return headers.some((name, i) => i % 2 === 0 && name === 'host')
}

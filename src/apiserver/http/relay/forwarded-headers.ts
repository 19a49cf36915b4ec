/**
 * The headers of a request that is passed on to another server, and of the answer that comes back.
 *
 * On the way out the client's credentials are removed, and so is everything by which it could claim to be somebody else,
 * and what a browser says of the page, which this server has judged and which is of no origin of the other server's;
 * who it is is told to aggregated servers in headers of our own, which they believe because of our client certificate. On the way back
 * only the headers that describe the answer are kept: any other might speak for this server as a whole, as cookies do.
 */

import { ApiError } from '../../../api/model/api-error.ts'
import type { User } from '../../../api/model/user.ts'
import { valuesOf } from '../../../wire/http/raw-headers.ts'
import { withoutWebSocketToken } from '../websocket/websocket-token.ts'

export interface ForwardedRequest {
  readonly rawHeaders: readonly string[]
  /** Whom the other server is told of; undefined where it is told of nobody. */
  readonly user: User | undefined
  /** Of the client. */
  readonly address: string
  /** Further names, or beginnings of names, by which backends are told who asks; in lower case. */
  readonly identityHeaders: readonly string[]
  /** This server, as `Via` names it. */
  readonly via: string
  /** Further headers that are not passed on; in lower case. */
  readonly dropped: readonly string[]
  /** What this server adds, in place of what the client sent under these names; in lower case. */
  readonly added: { readonly [name: string]: string }
}

/** Of the connection, or decided by whoever sends the request on. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'host', 'content-length', 'expect', 'http2-settings'],
])
const credentials = new Set(['authorization', 'cookie', 'x-forwarded-for', 'via'])
const identityPrefixes = ['x-remote-', 'impersonate-']
/** Whether a browser describes the page by it that caused the request. */
const isOfPage = (name: string) => name === 'origin' || name.startsWith('sec-fetch-')

/** Alternating names and values. */
export function requestHeaders(request: ForwardedRequest): string[] {
  const { rawHeaders, user, address, identityHeaders, via, added } = request
  const dropped = new Set([...connectionHeaders(rawHeaders), ...request.dropped, ...Object.keys(added)])
  const claims = [...identityPrefixes, ...identityHeaders]
  const kept = filterHeaders(rawHeaders, (name) => {
    // Some servers take `_` for `-`.
    const read = name.replaceAll('_', '-')
    if (dropped.has(name) || isOfPage(name)) return false
    return !credentials.has(read) && !claims.some((claim) => read.startsWith(claim))
  })
  return [
    ...withoutTokens(kept),
    ...(user === undefined ? [] : identityOf(user)),
    ...Object.entries(added).flat(),
    ...['x-forwarded-for', [...valuesOf(rawHeaders, 'x-forwarded-for'), address].join(', ')],
    ...['via', [...valuesOf(rawHeaders, 'via'), via].join(', ')],
  ]
}

/** Removes a bearer token that a browser offered as a subprotocol: it is a credential for this server alone. */
function withoutTokens(headers: readonly string[]): string[] {
  const passed: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const isProtocols = headers[i]!.toLowerCase() === 'sec-websocket-protocol'
    const value = isProtocols ? withoutWebSocketToken(headers[i + 1]!) : headers[i + 1]!
    if (value !== '' || !isProtocols) passed.push(headers[i]!, value)
  }
  return passed
}

/** The headers of the user's identity, as the front proxy of a cluster sends them. */
export function identityOf({ name, groups, extra }: User): string[] {
  const headers = ['X-Remote-User', headerValue(name)]
  for (const group of groups) headers.push('X-Remote-Group', headerValue(group))
  for (const [key, values] of extra)
    for (const value of values) headers.push(`X-Remote-Extra-${headerName(key)}`, headerValue(value))
  return headers
}

/** Node sends one byte for each character; names of users are UTF-8. */
function headerValue(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are not allowed in a header
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text))
    throw new ApiError(400, 'BadRequest', 'a name of the user has characters that cannot be sent in a header')
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** What may not stand in the name of a header is percent-encoded, and `%` with it, so that it can be read back. */
function headerName(key: string): string {
  return [...Buffer.from(key, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[!#$&'*+.^_`|~0-9A-Za-z-]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

/** Whether a request has come through this server before. */
export function hasPassed(rawHeaders: readonly string[], via: string): boolean {
  return valuesOf(rawHeaders, 'via').some((value) => value.split(',').some((hop) => hop.trim() === via))
}

/**
 * The headers of an answer that describe it, or the protocol that a tunnel goes on in. No other is relayed: browsers act on
 * ever more headers, and would act on them for the whole origin of this server.
 */
const relayedHeaders = new Set([
  ...['content-type', 'content-encoding', 'content-language', 'content-disposition', 'content-range', 'accept-ranges'],
  ...['cache-control', 'expires', 'age', 'etag', 'last-modified', 'vary', 'allow', 'retry-after', 'warning'],
  ...['sec-websocket-accept', 'sec-websocket-protocol', 'sec-websocket-extensions', 'sec-websocket-version'],
  ...['x-stream-protocol-version', 'x-accepted-stream-protocol-versions'],
])
/** Clients of HTTP/2 reject answers with many headers; Node's takes 128. */
const maxWarnings = 50
const maxWarningLength = 4000

/**
 * Alternating names in lower case and values. Of a header that may occur once the first counts. The length is told by
 * whoever sends the answer on, if it is told at all.
 */
export function answerHeaders(rawHeaders: readonly string[]): string[] {
  const dropped = connectionHeaders(rawHeaders)
  const names = new Set(rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()))
  return [...names]
    .filter((name) => relayedHeaders.has(name) && !dropped.has(name))
    .flatMap((name) => relayedValues(name, valuesOf(rawHeaders, name)).flatMap((value) => [name, value]))
}

function relayedValues(name: string, values: readonly string[]): string[] {
  if (name === 'vary') return [[...new Set(values)].join(', ')]
  if (name === 'content-type') return [relayedType(values[0]!)]
  return name === 'warning' ? boundWarnings(values) : values.slice(0, 1)
}

/** Browsers read headers in the parts of such an answer, cookies among them, and act on those. */
function relayedType(contentType: string): string {
  return /^\s*multipart\/x-mixed-replace/i.test(contentType) ? 'application/octet-stream' : contentType
}

/** The first ones, as far as there is room. */
function boundWarnings(values: readonly string[]): string[] {
  let room = maxWarningLength
  return values.slice(0, maxWarnings).filter((value) => {
    room -= value.length
    return room >= 0
  })
}

/** Those that only concern one connection: the usual ones, and those that `Connection` names. */
function connectionHeaders(rawHeaders: readonly string[]): Set<string> {
  const named = valuesOf(rawHeaders, 'connection').flatMap((value) => value.toLowerCase().split(','))
  return new Set([...ofConnection, ...named.map((name) => name.trim())])
}

/** Those whose name, in lower case, is kept. */
function filterHeaders(rawHeaders: readonly string[], isKept: (name: string) => boolean): string[] {
  return rawHeaders
    .filter((_, i) => i % 2 === 0)
    .flatMap((name, i) => (isKept(name.toLowerCase()) ? [name, rawHeaders[2 * i + 1]!] : []))
}

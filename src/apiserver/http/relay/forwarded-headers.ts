/**
 * The headers of a forwarded request, and of the response from the backend.
 *
 * This server removes the following headers from the request: the client's credentials, all headers that could claim
 * another identity, and the headers in which a browser describes the calling page. This server has already checked
 * these headers. Aggregated servers receive the user's identity in X-Remote-* headers, which they trust because of this
 * server's client certificate. From the response, this server relays only headers that describe the response. Other
 * headers, such as cookies, could affect this server's whole origin.
 */

import { ApiError } from '../../../api/model/api-error.ts'
import type { User } from '../../../api/model/user.ts'
import { valuesOf } from '../../../wire/http/raw-headers.ts'
import { withoutWebSocketToken } from '../websocket/websocket-token.ts'

export interface ForwardedRequest {
  readonly rawHeaders: readonly string[]
  /** The user whose identity the backend receives. Undefined for backends that must not receive it. */
  readonly user: User | undefined
  /** The IP address of the client. */
  readonly address: string
  /** Additional names or prefixes, in lower case, of headers that backends trust for identity. */
  readonly identityHeaders: readonly string[]
  /** Whether to send the user's UID, as Kubernetes has done since 1.33. */
  readonly sendsUid: boolean
  /** The name of this server for the `Via` header. */
  readonly via: string
  /** Names of additional client headers to remove, in lower case. */
  readonly dropped: readonly string[]
  /** Headers to add, by lower-case name. These headers replace client headers with the same name. */
  readonly added: { readonly [name: string]: string }
}

/**
 * Headers that describe only the client's connection to this server. The forwarded request has its own connection
 * headers.
 */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'host', 'content-length', 'expect', 'http2-settings'],
])
const credentials = new Set(['authorization', 'cookie', 'x-forwarded-for', 'via'])
const identityPrefixes = ['x-remote-', 'impersonate-']
/** Whether a browser uses this header to identify the page that sent the request. */
const isOfPage = (name: string) => name === 'origin' || name.startsWith('sec-fetch-')

/** Returns the headers of the forwarded request, as alternating names and values. */
export function requestHeaders(request: ForwardedRequest): string[] {
  const { rawHeaders, user, address, identityHeaders, via, added } = request
  const dropped = new Set([...connectionHeaders(rawHeaders), ...request.dropped, ...Object.keys(added)])
  const identityNames = [...identityPrefixes, ...identityHeaders]
  const forwarded = filterHeaders(rawHeaders, (name) => {
    // Some servers treat `_` and `-` in header names alike, so both must match.
    const read = name.replaceAll('_', '-')
    if (dropped.has(name) || isOfPage(name)) return false
    return !credentials.has(read) && !identityNames.some((identityName) => read.startsWith(identityName))
  })
  return [
    ...withoutTokens(forwarded),
    ...(user === undefined ? [] : identityOf(user)),
    ...(user === undefined || user.uid === '' || !request.sendsUid ? [] : ['X-Remote-Uid', headerValue(user.uid)]),
    ...Object.entries(added).flat(),
    ...['x-forwarded-for', [...valuesOf(rawHeaders, 'x-forwarded-for'), address].join(', ')],
    ...['via', [...valuesOf(rawHeaders, 'via'), via].join(', ')],
  ]
}

/**
 * Removes a bearer token that a browser sent as a WebSocket subprotocol, because it is a credential for this server
 * only.
 */
function withoutTokens(headers: readonly string[]): string[] {
  const passed: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const isProtocols = headers[i]!.toLowerCase() === 'sec-websocket-protocol'
    const value = isProtocols ? withoutWebSocketToken(headers[i + 1]!) : headers[i + 1]!
    if (value !== '' || !isProtocols) passed.push(headers[i]!, value)
  }
  return passed
}

/** Returns the headers that an authenticating front proxy uses to send the user's identity. */
export function identityOf({ name, groups, extra }: User): string[] {
  const headers = ['X-Remote-User', headerValue(name)]
  for (const group of groups) headers.push('X-Remote-Group', headerValue(group))
  for (const [key, values] of extra)
    for (const value of values) headers.push(`X-Remote-Extra-${headerName(key)}`, headerValue(value))
  return headers
}

/** Encodes a header value for Node, which sends one byte per character. User names are encoded as UTF-8. */
function headerValue(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: header values must not contain control characters
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text))
    throw new ApiError(
      400,
      'BadRequest',
      "the user's name, UID, groups or extra fields contain characters that are not allowed in a header",
    )
  return Buffer.from(text, 'utf8').toString('latin1')
}

/**
 * Encodes a key as part of a header name. Characters that are not allowed in header names, and `%` itself, are
 * percent-encoded, so that decoding is unambiguous.
 */
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

/** Whether the request has already passed through this server. */
export function hasPassed(rawHeaders: readonly string[], via: string): boolean {
  return valuesOf(rawHeaders, 'via').some((value) => value.split(',').some((hop) => hop.trim() === via))
}

/**
 * Names of the response headers to relay: headers about the content or the response, and headers of a protocol upgrade.
 * Any other header could take effect for this server's whole origin in a browser.
 */
const relayedHeaders = new Set([
  ...['content-type', 'content-encoding', 'content-language', 'content-disposition', 'content-range', 'accept-ranges'],
  ...['cache-control', 'expires', 'age', 'etag', 'last-modified', 'vary', 'allow', 'retry-after', 'warning'],
  ...['sec-websocket-accept', 'sec-websocket-protocol', 'sec-websocket-extensions', 'sec-websocket-version'],
  ...['x-stream-protocol-version', 'x-accepted-stream-protocol-versions'],
])
/** Maximum number of relayed warnings. HTTP/2 clients reject responses with too many headers. Node's limit is 128. */
const maxWarnings = 50
const maxWarningLength = 4000

/**
 * Returns the response headers to relay, as alternating lower-case names and values. For a header that may occur only
 * once, only the first value is relayed. Content-Length is omitted, because the code that sends the response sets it.
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

/**
 * Returns the content type to relay. The type multipart/x-mixed-replace is replaced, because browsers would process the
 * headers of its parts, including cookies.
 */
function relayedType(contentType: string): string {
  return /^\s*multipart\/x-mixed-replace/i.test(contentType) ? 'application/octet-stream' : contentType
}

/** Returns the first warnings, up to the maximum number. */
function boundWarnings(values: readonly string[]): string[] {
  let room = maxWarningLength
  return values.slice(0, maxWarnings).filter((value) => {
    room -= value.length
    return room >= 0
  })
}

/** Returns the names of the hop-by-hop headers: the standard ones and those listed in `Connection`. */
function connectionHeaders(rawHeaders: readonly string[]): Set<string> {
  const named = valuesOf(rawHeaders, 'connection').flatMap((value) => value.toLowerCase().split(','))
  return new Set([...ofConnection, ...named.map((name) => name.trim())])
}

/** Returns the headers whose lower-case names satisfy `isKept`. */
function filterHeaders(rawHeaders: readonly string[], isKept: (name: string) => boolean): string[] {
  return rawHeaders
    .filter((_, i) => i % 2 === 0)
    .flatMap((name, i) => (isKept(name.toLowerCase()) ? [name, rawHeaders[2 * i + 1]!] : []))
}

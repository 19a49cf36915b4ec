/**
 * Negotiates a multiplexed connection (over SPDY/3.1 or a WebSocket) and the version of the subprotocol. Returns the
 * response headers, or the reason for rejecting the request.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The protocol and the subprotocol that both sides support. */
export interface AgreedProtocol {
  readonly over: 'spdy' | 'websocket'
  /** The negotiated subprotocol, or '' if the client requests none. */
  readonly name: string
  /** Headers of the 101 response, as alternating names and values. */
  readonly headers: readonly string[]
}

export interface RefusedProtocol {
  readonly status: number
  readonly message: string
  readonly headers?: { readonly [name: string]: string }
}

/** The supported subprotocols, in order of preference. */
export interface SpokenProtocols {
  readonly spdy: readonly string[]
  readonly websocket: readonly string[]
}

/** Negotiates the protocol of a connection from the headers of an upgrade request. */
export function agreeOnProtocol(
  headers: IncomingHttpHeaders,
  spoken: SpokenProtocols,
): AgreedProtocol | RefusedProtocol {
  const requestedProtocols = listOf(headers.upgrade).map((protocol) => protocol.toLowerCase())
  if (requestedProtocols.includes('websocket')) return agreeOnWebSocket(headers, spoken.websocket)
  if (requestedProtocols.includes('spdy/3.1')) return agreeOnSpdy(headers, spoken.spdy)
  return { status: 400, message: 'unable to upgrade: request the protocol SPDY/3.1 or websocket' }
}

function agreeOnSpdy(headers: IncomingHttpHeaders, spoken: readonly string[]): AgreedProtocol | RefusedProtocol {
  const offered = listOf(headers['x-stream-protocol-version'])
  const upgrade = ['Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1']
  if (offered.length === 0) return { over: 'spdy', name: '', headers: upgrade }
  const name = offered.find((each) => spoken.includes(each))
  if (name !== undefined) return { over: 'spdy', name, headers: [...upgrade, 'X-Stream-Protocol-Version', name] }
  return {
    status: 403,
    message: `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ').slice(0, 200)}], server accepts [${spoken.join(' ')}]`,
    headers: { 'X-Accepted-Stream-Protocol-Versions': spoken.join(', ') },
  }
}

function agreeOnWebSocket(headers: IncomingHttpHeaders, spoken: readonly string[]): AgreedProtocol | RefusedProtocol {
  const key = headers['sec-websocket-key'] ?? ''
  if (headers['sec-websocket-version'] !== '13' || Buffer.from(key, 'base64').length !== 16)
    return {
      status: 400,
      message: 'unable to upgrade: WebSocket version 13 with a key is required',
      headers: { 'Sec-WebSocket-Version': '13' },
    }
  const offered = listOf(headers['sec-websocket-protocol'])
  const name = offered.find((each) => spoken.includes(each))
  if (name === undefined && offered.length > 0)
    return { status: 400, message: `unable to upgrade: the supported protocols are ${spoken.join(', ')}` }
  const accepted = ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Accept', acceptKey(key)]
  return {
    over: 'websocket',
    name: name ?? '',
    headers: name === undefined ? accepted : [...accepted, 'Sec-WebSocket-Protocol', name],
  }
}

/** Computes the value of Sec-WebSocket-Accept, which proves that the server understood the request. */
function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

function listOf(value: string | readonly string[] | undefined): string[] {
  const text = typeof value === 'string' ? value : (value ?? []).join(',')
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

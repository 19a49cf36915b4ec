/**
 * Bearer tokens for WebSockets that browsers open. A page cannot set the Authorization header of a WebSocket.
 * Kubernetes clients therefore send the token as a subprotocol, `base64url.bearer.authorization.k8s.io.TOKEN`, along
 * with at least one real subprotocol. This module reads the token and removes it before the request is forwarded.
 */
import { unauthorized } from '../../../api/model/api-error.ts'
import type { RequestHeaders } from '../request/headers.ts'

const tokenPrefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * Returns an Authorization header with the offered token, or undefined if the client offers no token. Throws 401 if the
 * token is invalid.
 */
export function webSocketAuthorization(headers: RequestHeaders): string | undefined {
  const offered = protocolsOf(headers.list('sec-websocket-protocol'))
  const tokens = offered.filter(isToken)
  if (tokens.length === 0) return undefined
  const encoded = tokens[0]!.slice(tokenPrefix.length)
  const token = Buffer.from(encoded, 'base64url')
  const isCanonical = token.length > 0 && token.toString('base64url') === encoded
  if (tokens.length > 1 || tokens.length === offered.length || !isCanonical) throw unauthorized()
  return `Bearer ${token.toString('latin1')}`
}

/** Returns the offered subprotocols without tokens, or '' if none remain. */
export function withoutWebSocketToken(value: string): string {
  const offered = protocolsOf(value)
  return offered.some(isToken) ? offered.filter((each) => !isToken(each)).join(', ') : value
}

function isToken(protocol: string): boolean {
  return protocol.startsWith(tokenPrefix)
}

function protocolsOf(value: string): string[] {
  if (value === '') return []
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/**
 * Bearer tokens for WebSockets that browsers open. A page cannot set the Authorization header of a WebSocket.
 * Kubernetes clients therefore send the token as a subprotocol, `base64url.bearer.authorization.k8s.io.TOKEN`, next to
 * at least one real subprotocol. The token is read here and removed before the request is forwarded.
 */
import { unauthorized } from '../../../api/model/api-error.ts'
import type { RequestHeaders } from '../request/headers.ts'

const tokenPrefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * The value of an Authorization header for the offered token; undefined if there is none. Throws 401 if the token is
 * invalid.
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

/** The offered subprotocols without tokens; '' if none remain. */
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

/**
 * Authenticates the request. Invalid credentials result in a 401. The authenticator decides whether a request without
 * credentials is allowed. If a user has too many connections, the request fails with 429 and its connection is closed.
 */

import { tooManyRequests, unauthorized } from '../../../api/model/api-error.ts'
import { authenticatedUsers, type User } from '../../../api/model/user.ts'
import type { AuthenticationOutcome, Authenticator } from '../../authn/authenticator.ts'
import type { Step } from '../pipeline.ts'
import type { Exchange } from '../request/exchange.ts'
import { webSocketAuthorization } from '../websocket/websocket-token.ts'

/**
 * Returns the authentication step. `isSecret` matches headers that only authentication may read. These headers are
 * removed before later steps run.
 */
export function authenticate(authenticator: Authenticator, isSecret?: (name: string) => boolean): Step {
  return (exchange) => {
    const { headers, transport } = exchange
    const { peer } = transport
    const { certificate } = peer
    const authorization =
      headers.one('authorization') ?? (transport.upgrade === undefined ? undefined : webSocketAuthorization(headers))
    if (isSecret !== undefined) exchange.headers = headers.without(isSecret)
    const { path } = exchange.info
    const outcome = authenticator({ certificate, authorization, headers, path, connection: peer, trace: exchange })
    return outcome instanceof Promise ? outcome.then((later) => admit(exchange, later)) : admit(exchange, outcome)
  }
}

function admit(exchange: Exchange, outcome: AuthenticationOutcome): void {
  if (outcome.result !== 'user') {
    const { peer } = exchange.transport
    // Close the connection, because the client certificate is verified only in the TLS handshake. The same certificate
    // may be accepted on a new connection, for example after the CAs have changed.
    if (peer.certificate?.trusted === false) peer.end()
    throw unauthorized()
  }
  exchange.user = outcome.user
  if (outcome.warning !== undefined) exchange.warn(outcome.warning)
  if (outcome.user.groups.includes(authenticatedUsers)) assertMayConnect(exchange, outcome.user)
}

/** Rejects the request and closes its connection if too many connections are open, either for this user or in total. */
function assertMayConnect({ transport: { peer } }: Exchange, user: User): void {
  const refusal = peer.proved(user)
  if (refusal === undefined) return
  peer.end()
  throw tooManyRequests(`too many connections: ${refusal}`, retryAfterSeconds)
}

/** Connections are long-lived, so retrying immediately would not help. */
const retryAfterSeconds = 10

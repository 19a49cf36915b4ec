/**
 * Authenticates the request. Wrong credentials are a 401; none at all is for the authenticator to judge. A user with too
 * many connections gets a 429, and the connection ends.
 */

import { tooManyRequests, unauthorized } from '../../../api/model/api-error.ts'
import { authenticatedUsers, type User } from '../../../api/model/user.ts'
import type { AuthenticationOutcome, Authenticator } from '../../authn/authenticator.ts'
import type { Step } from '../pipeline.ts'
import type { Exchange } from '../request/exchange.ts'
import { webSocketAuthorization } from '../websocket/websocket-token.ts'

/** `isSecret` names headers that are for authentication alone: nothing behind it sees them. */
export function authenticate(authenticator: Authenticator, isSecret?: (name: string) => boolean): Step {
  return (exchange) => {
    const { headers, transport } = exchange
    const { peer } = transport
    const { certificate } = peer
    const authorization =
      headers.one('authorization') ?? (transport.upgrade === undefined ? undefined : webSocketAuthorization(headers))
    if (isSecret !== undefined) exchange.headers = headers.without(isSecret)
    const outcome = authenticator({ certificate, authorization, headers, connection: peer, trace: exchange })
    return outcome instanceof Promise ? outcome.then((later) => admit(exchange, later)) : admit(exchange, outcome)
  }
}

function admit(exchange: Exchange, outcome: AuthenticationOutcome): void {
  if (outcome.result !== 'user') {
    const { peer } = exchange.transport
    // TLS judged it by the authorities and the time of then: on a new connection it may be found in order.
    if (peer.certificate?.trusted === false) peer.end()
    throw unauthorized()
  }
  exchange.user = outcome.user
  if (outcome.warning !== undefined) exchange.warn(outcome.warning)
  if (outcome.user.groups.includes(authenticatedUsers)) assertMayConnect(exchange, outcome.user)
}

/** Rejects the request and ends its connection where its user has too many, or there are too many in all. */
function assertMayConnect({ transport: { peer } }: Exchange, user: User): void {
  const refusal = peer.proved(user)
  if (refusal === undefined) return
  peer.end()
  throw tooManyRequests(`too many connections: ${refusal}`, retryAfterSeconds)
}

/** A connection is open for long: to ask again at once is of no use. */
const retryAfterSeconds = 10

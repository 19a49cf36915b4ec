/** Authenticates the request. Wrong credentials are a 401; none at all is for the authenticator to judge. */
import type { AuthenticationOutcome, Authenticator } from '../../authn/authenticator.ts'
import { unauthorized } from '../../model/api-error.ts'
import { authenticatedUsers } from '../../model/user.ts'
import type { Exchange } from '../exchange.ts'
import type { Step } from '../pipeline.ts'
import { webSocketAuthorization } from '../websocket-token.ts'

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
  if (outcome.user.groups.includes(authenticatedUsers)) exchange.transport.peer.proved()
}

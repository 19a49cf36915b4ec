/** Finds out who asks. Credentials that are wrong are a 401; none at all is for the authenticator to judge. */
import type { AuthenticationOutcome, Authenticator } from '../../authn/authenticator.ts'
import { unauthorized } from '../../model/api-error.ts'
import { authenticatedUsers } from '../../model/user.ts'
import type { Exchange } from '../exchange.ts'
import type { Step } from '../pipeline.ts'

export function authenticate(authenticator: Authenticator): Step {
  return (exchange) => {
    const { peer } = exchange.transport
    const { certificate } = peer
    const authorization = exchange.headers.one('authorization')
    const outcome = authenticator({ certificate, authorization, connection: peer })
    return outcome instanceof Promise ? outcome.then((later) => admit(exchange, later)) : admit(exchange, outcome)
  }
}

function admit(exchange: Exchange, outcome: AuthenticationOutcome): void {
  if (outcome.result !== 'user') throw unauthorized()
  exchange.user = outcome.user
  if (outcome.user.groups.includes(authenticatedUsers)) exchange.transport.peer.proved()
}

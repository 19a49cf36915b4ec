/** Finds out who asks. Credentials that are wrong are a 401; none at all is for the authenticator to judge. */
import type { AuthenticationOutcome, Authenticator } from '../../authn/authenticator.ts'
import { badRequest, unauthorized } from '../../model/api-error.ts'
import { authenticatedUsers } from '../../model/user.ts'
import type { Exchange } from '../exchange.ts'
import type { Step } from '../pipeline.ts'

export function authenticate(authenticator: Authenticator): Step {
  return (exchange) => {
    refuseImpersonation(exchange)
    const { peer } = exchange.transport
    const { certificate } = peer
    const authorization = exchange.headers.one('authorization')
    const outcome = authenticator({ certificate, authorization, connection: peer })
    return outcome instanceof Promise ? outcome.then((later) => admit(exchange, later)) : admit(exchange, outcome)
  }
}

/** Who asks to act as another must not act as themselves instead: until that is built it is refused. */
function refuseImpersonation({ headers }: Exchange): void {
  if (headers.hasPrefix('impersonate-'))
    throw badRequest('impersonation is not built yet: leave the Impersonate headers out')
}

function admit(exchange: Exchange, outcome: AuthenticationOutcome): void {
  if (outcome.result !== 'user') throw unauthorized()
  exchange.user = outcome.user
  if (outcome.user.groups.includes(authenticatedUsers)) exchange.transport.peer.proved()
}

/** Finds out who asks. Credentials that are wrong are a 401; none at all is for the authenticator to judge. */
import type { Authenticator } from '../../authn/authenticator.ts'
import { unauthorized } from '../../model/api-error.ts'
import type { Step } from '../pipeline.ts'

export function authenticate(authenticator: Authenticator): Step {
  return async (exchange, next) => {
    const { peer } = exchange.transport
    const outcome = await authenticator({
      certificate: peer.certificate,
      authorization: exchange.headers.one('authorization'),
    })
    if (outcome.result !== 'user') throw unauthorized()
    exchange.user = outcome.user
    await next()
  }
}

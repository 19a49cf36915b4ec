/**
 * `tokenreviews`: says whose a token is, as the server itself would decide if it came with a request. Only the
 * strategies that judge tokens are asked, and the anonymous user is nobody. A token counts if it is meant for one of
 * the audiences in question; one that names nobody is meant for this server.
 */

import { tokenReview as kind, type TokenReview } from '../../api/kinds/authentication/token-review.ts'
import { badRequest } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import { type AuthenticationOutcome, type Authenticator, noHeaders } from '../authn/authenticator.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'

export interface TokenReviewParts {
  /** The strategies for tokens, without an anonymous user; known once the catalogue is. */
  readonly authenticateToken: () => Authenticator
  /** Whom a token that says nothing else is meant for: this server. */
  readonly audiences: readonly string[]
}

export function tokenReview({ authenticateToken, audiences: own }: TokenReviewParts): Endpoint<TokenReview> {
  return {
    kind,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Returns the user that a token belongs to.',
    answer: async ({ object: review }) => {
      const { token, audiences: wanted = [] } = review.spec ?? {}
      if (!token) throw badRequest('a TokenReview needs a token: set spec.token')
      const audiences = wanted.length === 0 ? own : wanted
      const authorization = `Bearer ${token}`
      const asked = { certificate: undefined, authorization, headers: noHeaders, connection: {}, audiences }
      const outcome = await authenticateToken()(asked)
      return { ...review, metadata: review.metadata, status: statusOf(outcome, audiences, own) }
    },
  }
}

function statusOf(outcome: AuthenticationOutcome, audiences: readonly string[], own: readonly string[]) {
  if (outcome.result !== 'user') return invalid(outcome.result === 'refused' ? outcome.why : undefined)
  const meant = outcome.audiences ?? audiences.filter((one) => own.includes(one))
  if (meant.length === 0) return invalid(undefined)
  return { authenticated: true, user: userInfo(outcome.user), audiences: [...meant] }
}

function invalid(why: string | undefined) {
  const told = 'invalid bearer token'
  return { user: {}, error: why === undefined ? told : `[${told}, ${why}]` }
}

function userInfo({ name, uid, groups, extra }: User) {
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  }
}

/**
 * Returns the user that a token authenticates (`tokenreviews`). Only token authenticators are used, and the result is
 * never the anonymous user. The token must be valid for at least one requested audience. A token without audiences is
 * valid only for this server.
 */

import { tokenReview as kind, type TokenReview } from '../../api/kinds/authentication/token-review.ts'
import { userInfoOf } from '../../api/kinds/authentication/user-info.ts'
import { badRequest } from '../../api/model/api-error.ts'
import { type AuthenticationOutcome, type Authenticator, noHeaders } from '../authn/authenticator.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'

export interface TokenReviewParts {
  /**
   * Returns the authenticator for tokens. It never accepts a request as anonymous, and it exists only after the
   * catalogue has been created.
   */
  readonly authenticateToken: () => Authenticator
  /** The audiences that the API server itself accepts, used if the review specifies none. */
  readonly audiences: readonly string[]
}

export function tokenReview({ authenticateToken, audiences: own }: TokenReviewParts): Endpoint<TokenReview> {
  return {
    kind,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    recordsManager: true,
    doc: 'Returns the user to whom a token belongs.',
    answer: async ({ object: review }) => {
      const { token, audiences: wanted = [] } = review.spec ?? {}
      if (!token) throw badRequest('spec.token is required')
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
  return { authenticated: true, user: userInfoOf(outcome.user), audiences: [...meant] }
}

function invalid(why: string | undefined) {
  const message = 'invalid bearer token'
  return { user: {}, error: why === undefined ? message : `[${message}, ${why}]` }
}

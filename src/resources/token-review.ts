/**
 * `tokenreviews`: says whose a token is, as the server itself would decide if it came with a request. Only the
 * strategies that judge tokens are asked, and the anonymous user is nobody.
 */
import type { Authenticator } from '../authn/authenticator.ts'
import { tokenReview as kind, type TokenReview } from '../kinds/authentication/token-review.ts'
import { badRequest } from '../model/api-error.ts'
import type { ApiObject } from '../model/object.ts'
import type { User } from '../model/user.ts'
import type { Endpoint } from '../registry/endpoint.ts'

export interface TokenReviewParts {
  /** The strategies for tokens. */
  readonly authenticateToken: Authenticator
  /** Whom a token that says nothing else is meant for: this server. */
  readonly audiences: readonly string[]
}

export function tokenReview({ authenticateToken, audiences }: TokenReviewParts): Endpoint {
  return {
    kind,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Tells whose a token is.',
    answer: async ({ object }) => {
      const review = object as TokenReview & ApiObject
      const { token, audiences: wanted = [] } = review.spec ?? {}
      if (!token) throw badRequest('a TokenReview needs a token: set spec.token')
      const meant = wanted.length === 0 ? audiences : wanted.filter((one) => audiences.includes(one))
      const user = meant.length === 0 ? undefined : await userOf(authenticateToken, token)
      return { ...review, metadata: review.metadata, status: statusOf(user, meant) }
    },
  }
}

async function userOf(authenticate: Authenticator, token: string): Promise<User | undefined> {
  const credentials = { certificate: undefined, authorization: `Bearer ${token}`, connection: {} }
  const outcome = await authenticate(credentials)
  return outcome.result === 'user' ? outcome.user : undefined
}

function statusOf(user: User | undefined, audiences: readonly string[]) {
  if (user === undefined) return { user: {}, error: 'invalid bearer token' }
  const { name, uid, groups, extra } = user
  return {
    authenticated: true,
    user: {
      username: name,
      ...(uid === '' ? {} : { uid }),
      groups: [...groups],
      ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
    },
    audiences: [...audiences],
  }
}

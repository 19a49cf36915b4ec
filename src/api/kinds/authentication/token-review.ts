/**
 * A TokenReview authenticates a token and returns its user. `apiserver/resources/token-review.ts` handles the request.
 * TokenReviews are never stored.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { userInfo } from './user-info.ts'

const spec = s.object(
  {
    token: field(1, s.string(), { doc: 'Bearer token to authenticate.' }),
    audiences: field(2, s.list(s.string()), {
      doc: 'Audiences that the caller accepts. The token must be intended for at least one of them. Defaults to the API server.',
    }),
  },
  { name: 'TokenReviewSpec', doc: 'Token to authenticate, and the audiences that the caller accepts.' },
)

const status = s.object(
  {
    authenticated: field(1, s.boolean(), { doc: 'Whether the token is valid and belongs to a known user.' }),
    user: field(2, userInfo, { zeroValue: 'write', doc: 'User to whom the token belongs.' }),
    audiences: field(4, s.list(s.string()), { doc: 'Accepted audiences for which the token is intended.' }),
    error: field(3, s.string(), { doc: 'Reason why the token is invalid or could not be checked.' }),
  },
  { name: 'TokenReviewStatus', doc: 'Result of a TokenReview.' },
)

const fields = {
  spec: field(2, spec, {
    required: true,
    zeroValue: 'write',
    doc: 'Token to authenticate, and the audiences that the caller accepts.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'Result of the review, set by the server.' }),
}

export type TokenReview = ObjectOf<typeof fields>

export const tokenReview = defineKind({
  names: {
    group: 'authentication',
    version: 'v1',
    kind: 'TokenReview',
    plural: 'tokenreviews',
    scope: 'Cluster',
  },
  doc: 'Checks a token and returns the user to whom it belongs. The review is not stored.',
  fields,
  lifecycle: {
    virtual: true,
  },
})

/** TokenReview: a question, whose token is this. It is answered (`apiserver/resources/token-review.ts`) and never stored. */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const userInfo = s.object(
  {
    username: field(1, s.string(), { doc: 'The name that the user is known by.' }),
    uid: field(2, s.string(), { doc: 'Distinguishes the user from others that have the same name at another time.' }),
    groups: field(3, s.list(s.string()), { doc: 'The groups that the user is in.' }),
    extra: field(4, s.map(s.list(s.string())), { doc: 'What else the authenticator knows of the user.' }),
  },
  { name: 'UserInfo', doc: 'A user, as authorization sees it.' },
)

const spec = s.object(
  {
    token: field(1, s.string(), { doc: 'The token in question.' }),
    audiences: field(2, s.list(s.string()), {
      doc: 'Audiences of which the token must name at least one; the API server itself if none is named.',
    }),
  },
  { name: 'TokenReviewSpec', doc: 'Which token is in question.' },
)

const status = s.object(
  {
    authenticated: field(1, s.boolean(), { doc: 'Whether the token is valid and belongs to a user.' }),
    user: field(2, userInfo, { zero: 'write', doc: 'The user that the token belongs to.' }),
    audiences: field(4, s.list(s.string()), { doc: 'The requested audiences that the token names.' }),
    error: field(3, s.string(), { doc: 'Why the token could not be checked, or is not valid.' }),
  },
  { name: 'TokenReviewStatus', doc: 'The user that the token belongs to.' },
)

const fields = {
  spec: field(2, spec, { required: true, zero: 'write', doc: 'The question.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
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
  doc: 'Asks which user a token belongs to. The answer is in the status; nothing is stored.',
  fields,
  life: {
    virtual: true,
  },
})

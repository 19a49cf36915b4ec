/**
 * A SelfSubjectReview returns the identity of the requesting user, for `kubectl auth whoami`.
 * `apiserver/resources/self-subject-review.ts` handles the request. Reviews are never stored.
 */
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { userInfo } from './user-info.ts'

const status = s.object(
  { userInfo: field(1, userInfo, { zeroValue: 'write', doc: 'Identity of the requesting user.' }) },
  { name: 'SelfSubjectReviewStatus', doc: 'Result of a SelfSubjectReview.' },
)

const fields = {
  status: field(2, status, { zeroValue: 'write', doc: 'Identity of the requesting user, set by the server.' }),
}

export type SelfSubjectReview = ObjectOf<typeof fields>

export const selfSubjectReview = defineKind({
  names: {
    group: 'authentication',
    version: 'v1',
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    scope: 'Cluster',
  },
  since: '1.28',
  doc: 'Returns the identity of the requesting user, after any impersonation. The review is not stored.',
  fields,
  lifecycle: { virtual: true, nameless: true },
})

export const selfSubjectReviewV1beta1 = defineVersion(selfSubjectReview, {
  version: 'v1beta1',
  fields,
  since: '1.27',
  until: '1.33',
  optIn: true,
})

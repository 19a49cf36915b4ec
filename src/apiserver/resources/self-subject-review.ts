/**
 * Returns the identity of the caller, after impersonation (`selfsubjectreviews`). Nothing from the request body is
 * repeated in the response.
 */

import {
  type SelfSubjectReview,
  selfSubjectReview,
  selfSubjectReviewV1beta1,
} from '../../api/kinds/authentication/self-subject-review.ts'
import { userInfoOf } from '../../api/kinds/authentication/user-info.ts'
import { timestamp } from '../../api/model/object.ts'
import type { KindOf } from '../../api/schema/kind.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'

export interface SelfSubjectReviewParts {
  readonly clock: Clock
}

/** Returns the endpoints of all versions of SelfSubjectReview. */
export function selfSubjectReviews({ clock }: SelfSubjectReviewParts): Endpoint[] {
  const serve = (kind: KindOf<SelfSubjectReview>): Endpoint<SelfSubjectReview> => ({
    kind,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Returns the identity of the requesting user.',
    answer: ({ object: { apiVersion, kind: kindName }, user }) => ({
      apiVersion,
      kind: kindName,
      metadata: { creationTimestamp: timestamp(clock.now()) },
      status: { userInfo: userInfoOf(user) },
    }),
  })
  return [serve(selfSubjectReview), serve(selfSubjectReviewV1beta1)]
}

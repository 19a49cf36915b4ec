/**
 * A SelfSubjectAccessReview checks whether the requesting user may perform an action.
 * `apiserver/resources/access-reviews.ts` handles the request. Reviews are never stored.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { accessStatusField, checkNoMetadata, checkQuestion, questionFields } from './review.ts'

const spec = s.object(questionFields, {
  name: 'SelfSubjectAccessReviewSpec',
  doc: 'Action to check for the requesting user.',
})

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Action to check for the requesting user.',
  }),
  status: accessStatusField,
}

export type SelfSubjectAccessReview = ObjectOf<typeof fields>

export const selfSubjectAccessReview = defineKind({
  names: {
    group: 'authorization',
    version: 'v1',
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    scope: 'Cluster',
  },
  doc: 'Checks whether the requesting user may perform an action. The review is not stored.',
  fields,
  rules: { validate: ({ metadata, spec = {} }) => [...checkQuestion(spec), ...checkNoMetadata(metadata)] },
  lifecycle: { virtual: true, nameless: true },
})

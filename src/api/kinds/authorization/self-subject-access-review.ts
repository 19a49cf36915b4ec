/** SelfSubjectAccessReview: may I do this? It is answered (`apiserver/resources/access-reviews.ts`) and never stored. */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { accessStatusField, checkNoMetadata, checkQuestion, questionFields } from './review.ts'

const spec = s.object(questionFields, { name: 'SelfSubjectAccessReviewSpec', doc: 'What one would do.' })

const fields = {
  spec: field(2, spec, { zero: 'write', published: 'required', doc: 'The question.' }),
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
  doc: 'A question: may I do this? The answer comes at once, and nothing is stored.',
  fields,
  rules: { validate: ({ metadata, spec = {} }) => [...checkQuestion(spec), ...checkNoMetadata(metadata)] },
  life: { virtual: true, nameless: true },
})

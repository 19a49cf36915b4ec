/**
 * A SubjectAccessReview or LocalSubjectAccessReview checks whether a user may perform an action.
 * `apiserver/resources/access-reviews.ts` handles the requests. Reviews are never stored. A LocalSubjectAccessReview is
 * namespaced, so a Role in its namespace can grant permission to create it.
 */
import { type FieldError, invalid } from '../../model/field-error.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { accessStatusField, checkNoMetadata, checkSubjectSpec, subjectSpec } from './review.ts'

const fields = {
  spec: field(2, subjectSpec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'User, and the action to check for that user.',
  }),
  status: accessStatusField,
}

export type SubjectAccessReview = ObjectOf<typeof fields>

export const subjectAccessReview = defineKind({
  names: {
    group: 'authorization',
    version: 'v1',
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    scope: 'Cluster',
  },
  doc: 'Checks whether a user may perform an action. The review is not stored.',
  fields,
  rules: { validate: ({ metadata, spec }) => [...checkSubjectSpec(spec), ...checkNoMetadata(metadata)] },
  lifecycle: { virtual: true, nameless: true },
})

export const localSubjectAccessReview = defineKind({
  names: {
    group: 'authorization',
    version: 'v1',
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    scope: 'Namespaced',
  },
  doc: "Checks whether a user may perform an action in the review's namespace. The review is not stored.",
  fields,
  rules: { validate: (object) => [...checkSubjectSpec(object.spec), ...checkPlace(object)] },
  lifecycle: { virtual: true, nameless: true },
})

/** Requires the review to concern resources in its own namespace. */
function checkPlace({ metadata, spec = {} }: SubjectAccessReview): FieldError[] {
  const { namespace = '', ...rest } = metadata
  const { resourceAttributes: asked, nonResourceAttributes: path } = spec
  const isOtherNamespace = asked !== undefined && (asked.namespace ?? '') !== namespace
  const why = 'must match metadata.namespace'
  return [
    ...checkNoMetadata(rest),
    ...(isOtherNamespace ? [invalid('spec.resourceAttributes.namespace', asked.namespace ?? '', why)] : []),
    ...(path === undefined ? [] : [invalid('spec.nonResourceAttributes', null, 'disallowed on this kind of request')]),
  ]
}

/**
 * SubjectAccessReview and LocalSubjectAccessReview: may somebody do this? They are answered
 * (`apiserver/resources/access-reviews.ts`) and never stored. The local one asks about one namespace, and the right to ask it is
 * a right in that namespace.
 */
import { type FieldError, invalid } from '../../model/field-error.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { accessStatusField, checkNoMetadata, checkSubjectSpec, subjectSpec } from './review.ts'

const fields = {
  spec: field(2, subjectSpec, { zero: 'write', published: 'required', doc: 'The question.' }),
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
  doc: 'Asks whether a user may do something. The answer is in the status; nothing is stored.',
  fields,
  rules: { validate: ({ metadata, spec }) => [...checkSubjectSpec(spec), ...checkNoMetadata(metadata)] },
  life: { virtual: true, nameless: true },
})

export const localSubjectAccessReview = defineKind({
  names: {
    group: 'authorization',
    version: 'v1',
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    scope: 'Namespaced',
  },
  doc: 'Asks whether a user may do something in this namespace. The answer is in the status; nothing is stored.',
  fields,
  rules: { validate: (object) => [...checkSubjectSpec(object.spec), ...checkPlace(object)] },
  life: { virtual: true, nameless: true },
})

/** It asks about resources of the namespace that it is in. */
function checkPlace({ metadata, spec = {} }: SubjectAccessReview): FieldError[] {
  const { namespace = '', ...rest } = metadata
  const { resourceAttributes: asked, nonResourceAttributes: path } = spec
  const elsewhere = asked !== undefined && (asked.namespace ?? '') !== namespace
  const why = 'must match metadata.namespace'
  return [
    ...checkNoMetadata(rest),
    ...(elsewhere ? [invalid('spec.resourceAttributes.namespace', asked.namespace ?? '', why)] : []),
    ...(path === undefined ? [] : [invalid('spec.nonResourceAttributes', null, 'disallowed on this kind of request')]),
  ]
}

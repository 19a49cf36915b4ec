/** What the access reviews share: what is asked about, and the answer. */
import { type FieldError, invalid } from '../../model/field-error.ts'
import type { ObjectMeta } from '../../model/object.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

const resourceFields = {
  namespace: field(1, s.string(), { doc: 'The namespace; "" for all of them, or for what is in none.' }),
  verb: field(2, s.string(), { doc: 'What is to be done: `get`, `list`, ...; `*` for everything.' }),
  group: field(3, s.string(), { doc: 'The API group; `*` for every group.' }),
  version: field(4, s.string(), { doc: 'The version; `*` for every version.' }),
  resource: field(5, s.string(), { doc: 'The resource, such as `pods`; `*` for every one.' }),
  subresource: field(6, s.string(), { doc: 'The sub-resource, such as `log`; "" for none.' }),
  name: field(7, s.string(), { doc: 'The name of the object; "" for none, as in a list.' }),
}

export type ResourceAttributes = InferFields<typeof resourceFields>

const resourceAttributes = s.object(resourceFields, {
  name: 'authorization.v1.ResourceAttributes',
  doc: 'What is to be done to which resource.',
})

const pathFields = {
  path: field(1, s.string(), { doc: 'The path, such as `/metrics`.' }),
  verb: field(2, s.string(), { doc: 'The method in lower case.' }),
}

const nonResourceAttributes = s.object(pathFields, {
  name: 'authorization.v1.NonResourceAttributes',
  doc: 'What is to be done to a path that is no resource.',
})

/** The question; one of the two. */
export const questionFields = {
  resourceAttributes: field(1, resourceAttributes, { doc: 'Asks about a resource.' }),
  nonResourceAttributes: field(2, nonResourceAttributes, { doc: 'Asks about a path.' }),
}

export type Question = InferFields<typeof questionFields>

export function checkQuestion({ resourceAttributes: resource, nonResourceAttributes: path }: Question): FieldError[] {
  if ((resource === undefined) !== (path === undefined)) return []
  const why =
    resource === undefined
      ? 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
      : 'cannot be specified in combination with resourceAttributes'
  return [invalid(resource === undefined ? 'spec.resourceAttributes' : 'spec.nonResourceAttributes', null, why)]
}

/** A review has no name or labels: an object that has some was meant to be of another kind. */
export function checkNoMetadata({ managedFields: _, creationTimestamp: _t, ...rest }: ObjectMeta): FieldError[] {
  return Object.keys(rest).length === 0 ? [] : [invalid('metadata', rest, 'must be empty')]
}

export const subjectFields = {
  ...questionFields,
  user: field(3, s.string(), { doc: 'The user in question.' }),
  groups: field(4, s.list(s.string()), { doc: 'The groups that the user is in.' }),
  extra: field(5, s.map(s.list(s.string())), { doc: 'Extra information about the user.' }),
  uid: field(6, s.string(), { doc: 'The UID of the user.' }),
}

export const subjectSpec = s.object(subjectFields, {
  name: 'SubjectAccessReviewSpec',
  doc: 'The user and the action.',
})

export type SubjectSpec = InferFields<typeof subjectFields>

export function checkSubjectSpec(spec: SubjectSpec | undefined): FieldError[] {
  const { user = '', groups = [] } = spec ?? {}
  const nobody = user === '' && groups.length === 0
  return [
    ...checkQuestion(spec ?? {}),
    ...(nobody ? [invalid('spec.user', '', 'at least one of user or group must be specified')] : []),
  ]
}

const accessStatus = s.object(
  {
    allowed: field(1, s.boolean(), { zero: 'write', published: 'required', doc: 'Whether it would be allowed.' }),
    denied: field(4, s.boolean(), { doc: 'Whether an authorizer denied the action, so that no other can allow it.' }),
    reason: field(2, s.string(), { doc: 'Why, if there is something to say.' }),
    evaluationError: field(3, s.string(), { doc: 'What went wrong while the answer was looked for.' }),
  },
  { name: 'SubjectAccessReviewStatus', doc: 'The answer.' },
)

export const accessStatusField = field(3, accessStatus, { zero: 'write', doc: 'The answer. Filled in by the server.' })

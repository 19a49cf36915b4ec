/** Fields and validation shared by all access reviews. */

import { at, child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../model/field-error.ts'
import { checkLabelValue } from '../../model/names.ts'
import type { ObjectMeta } from '../../model/object.ts'
import { field, type Infer, type InferFields, s } from '../../schema/schema.ts'
import { checkLabelKey } from '../../selectors/label-rules.ts'
import { fieldSelectorRequirement, labelSelectorRequirement } from '../meta/label-selector.ts'

const fieldSelectorAttributes = s.object(
  {
    rawSelector: field(1, s.string(), { doc: 'Field selector as a string. Mutually exclusive with `requirements`.' }),
    requirements: field(2, s.list(fieldSelectorRequirement), {
      doc: 'Field selector as parsed requirements, all of which must match. Mutually exclusive with the string form.',
    }),
  },
  { name: 'authorization.v1.FieldSelectorAttributes', doc: 'Field selector of a request.' },
)

const labelSelectorAttributes = s.object(
  {
    rawSelector: field(1, s.string(), { doc: 'Label selector as a string. Mutually exclusive with `requirements`.' }),
    requirements: field(2, s.list(labelSelectorRequirement), {
      doc: 'Label selector as parsed requirements, all of which must match. Mutually exclusive with the string form.',
    }),
  },
  { name: 'authorization.v1.LabelSelectorAttributes', doc: 'Label selector of a request.' },
)

const resourceFields = {
  namespace: field(1, s.string(), {
    doc: 'Namespace of the action. Empty for cluster-scoped resources and for actions in all namespaces.',
  }),
  verb: field(2, s.string(), { doc: 'Verb of the action, such as `get` or `list`. `*` means all verbs.' }),
  group: field(3, s.string(), { doc: 'API group of the resource. `*` means all groups.' }),
  version: field(4, s.string(), { doc: 'API version of the resource. `*` means all versions.' }),
  resource: field(5, s.string(), { doc: 'Plural name of the resource, such as `pods`. `*` means all resources.' }),
  subresource: field(6, s.string(), {
    doc: 'Subresource, such as `log`. Empty if the action is on the resource itself.',
  }),
  name: field(7, s.string(), {
    doc: 'Name of the object. Empty if the action is not limited to one object, as in a list request.',
  }),
  fieldSelector: field(8, fieldSelectorAttributes, {
    since: '1.31',
    gate: 'AuthorizeWithSelectors',
    doc: 'Field selector that limits the action. Only for the verbs `list`, `watch` and `deletecollection`.',
  }),
  labelSelector: field(9, labelSelectorAttributes, {
    since: '1.31',
    gate: 'AuthorizeWithSelectors',
    doc: 'Label selector that limits the action. Only for the verbs `list`, `watch` and `deletecollection`.',
  }),
}

export type ResourceAttributes = InferFields<typeof resourceFields>

const resourceAttributes = s.object(resourceFields, {
  name: 'authorization.v1.ResourceAttributes',
  doc: 'An action on a resource.',
})

const pathFields = {
  path: field(1, s.string(), { doc: 'URL path, such as `/metrics`.' }),
  verb: field(2, s.string(), { doc: 'HTTP method in lower case, such as `get`.' }),
}

const nonResourceAttributes = s.object(pathFields, {
  name: 'authorization.v1.NonResourceAttributes',
  doc: 'An action on a URL path that is not a resource.',
})

/** The fields that specify the action to authorize. Exactly one of them must be set. */
export const questionFields = {
  resourceAttributes: field(1, resourceAttributes, {
    doc: 'Action on a resource. Exactly one of `resourceAttributes` and `nonResourceAttributes` must be set.',
  }),
  nonResourceAttributes: field(2, nonResourceAttributes, {
    doc: 'Action on a URL path. Exactly one of `resourceAttributes` and `nonResourceAttributes` must be set.',
  }),
}

export type Question = InferFields<typeof questionFields>

export function checkQuestion(question: Question): FieldError[] {
  const { fieldSelector, labelSelector } = question.resourceAttributes ?? {}
  return [
    ...checkTarget(question),
    ...checkSelector(fieldSelector, 'spec.resourceAttributes.fieldSelector', checkFieldKey),
    ...checkSelector(labelSelector, 'spec.resourceAttributes.labelSelector', checkLabelRequirement),
  ]
}

/** Requires exactly one of `resourceAttributes` and `nonResourceAttributes`. */
function checkTarget({ resourceAttributes: resource, nonResourceAttributes: path }: Question): FieldError[] {
  if ((resource === undefined) !== (path === undefined)) return []
  const why =
    resource === undefined
      ? 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
      : 'cannot be specified in combination with resourceAttributes'
  return [invalid(resource === undefined ? 'spec.resourceAttributes' : 'spec.nonResourceAttributes', null, why)]
}

type SelectorAttributes = Infer<typeof fieldSelectorAttributes> | Infer<typeof labelSelectorAttributes>
type SelectorRequirement = NonNullable<SelectorAttributes['requirements']>[number]

function checkSelector(
  selector: SelectorAttributes | undefined,
  path: FieldPath,
  check: (requirement: SelectorRequirement, path: FieldPath) => FieldError[],
): FieldError[] {
  if (selector === undefined) return []
  const { rawSelector = '', requirements = [] } = selector
  const isEmpty = rawSelector === '' && requirements.length === 0
  const list = child(path, 'requirements')
  const both = 'cannot be specified together with requirements'
  return [
    ...(rawSelector !== '' && requirements.length > 0 ? [invalid(child(path, 'rawSelector'), rawSelector, both)] : []),
    ...(isEmpty ? [required(list, 'specify requirements or rawSelector')] : []),
    ...requirements.flatMap((each, i) => [...checkValues(each, at(list, i)), ...check(each, at(list, i))]),
  ]
}

/**
 * Validates the values of a selector requirement. Unknown operators are accepted, because later versions may define
 * further operators.
 */
function checkValues({ operator = '', values = [] }: SelectorRequirement, path: FieldPath): FieldError[] {
  const place = child(path, 'values')
  const isMissing = (operator === 'In' || operator === 'NotIn') && values.length === 0
  const isForbidden = (operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0
  return [
    ...(isMissing ? [required(place, "must be specified when `operator` is 'In' or 'NotIn'")] : []),
    ...(isForbidden ? [forbidden(place, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")] : []),
  ]
}

function checkFieldKey({ key = '' }: SelectorRequirement, path: FieldPath): FieldError[] {
  return key === '' ? [required(child(path, 'key'), 'must be specified')] : []
}

function checkLabelRequirement({ key = '', values = [] }: SelectorRequirement, path: FieldPath): FieldError[] {
  return [
    ...checkLabelKey(key, child(path, 'key')),
    ...values.flatMap((value, i) =>
      checkLabelValue(value).map((fault) => invalid(at(child(path, 'values'), i), value, fault)),
    ),
  ]
}

/** Rejects a review that has a name, labels or other metadata. */
export function checkNoMetadata({ managedFields: _, creationTimestamp: _t, ...rest }: ObjectMeta): FieldError[] {
  return Object.keys(rest).length === 0 ? [] : [invalid('metadata', rest, 'must be empty')]
}

export const subjectFields = {
  ...questionFields,
  user: field(3, s.string(), { doc: 'Name of the user. Required if `groups` is empty.' }),
  groups: field(4, s.list(s.string()), { doc: 'Groups that the user belongs to. Required if `user` is empty.' }),
  extra: field(5, s.map(s.list(s.string())), {
    doc: 'Additional attributes of the user, provided by the authenticator.',
  }),
  uid: field(6, s.string(), { doc: 'UID of the user.' }),
}

export const subjectSpec = s.object(subjectFields, {
  name: 'SubjectAccessReviewSpec',
  doc: 'User, and the action to check for that user.',
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
    allowed: field(1, s.boolean(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Whether the action is allowed.',
    }),
    denied: field(4, s.boolean(), {
      doc: 'Whether an authorizer explicitly denied the action. No other authorizer can then allow it.',
    }),
    reason: field(2, s.string(), { doc: 'Reason for the decision, if known.' }),
    evaluationError: field(3, s.string(), {
      doc: 'Error that occurred during authorization, if any. The decision may be valid despite the error.',
    }),
  },
  { name: 'SubjectAccessReviewStatus', doc: 'Authorization decision.' },
)

export const accessStatusField = field(3, accessStatus, {
  zeroValue: 'write',
  doc: 'Authorization decision, set by the server.',
})

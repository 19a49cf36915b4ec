/**
 * A SelfSubjectRulesReview lists the permissions of the requesting user. `apiserver/resources/rules-review.ts` handles
 * the request. SelfSubjectRulesReviews are never stored.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const words = s.list(s.string())

const spec = s.object(
  { namespace: field(1, s.string(), { doc: 'Namespace for which to list the permissions. Required.' }) },
  { name: 'SelfSubjectRulesReviewSpec', doc: 'Namespace for which to list the permissions.' },
)

export const resourceRuleType = s.object(
  {
    verbs: field(1, words, { zeroValue: 'write', published: 'required', doc: 'Allowed verbs. `*` means all verbs.' }),
    apiGroups: field(2, words, { doc: 'API groups of the resources. `*` means all groups.' }),
    resources: field(3, words, { doc: 'Resources that the rule covers. `*` means all resources.' }),
    resourceNames: field(4, words, {
      doc: 'Names of the objects that the rule covers. If empty, the rule covers all objects.',
    }),
  },
  { name: 'ResourceRule', doc: 'A rule that allows verbs on resources.' },
)

export const nonResourceRuleType = s.object(
  {
    verbs: field(1, words, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Allowed HTTP methods in lower case, such as `get`. `*` means all methods.',
    }),
    nonResourceURLs: field(2, words, { doc: 'URL paths that the rule covers. A trailing `*` matches any suffix.' }),
  },
  { name: 'NonResourceRule', doc: 'A rule that allows verbs on URL paths.' },
)

const status = s.object(
  {
    resourceRules: field(1, s.list(resourceRuleType), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Actions that the user may perform on resources, in no particular order.',
    }),
    nonResourceRules: field(2, s.list(nonResourceRuleType), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Actions that the user may perform on URL paths, in no particular order.',
    }),
    incomplete: field(3, s.boolean(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Whether the returned rules may be incomplete.',
    }),
    evaluationError: field(4, s.string(), { doc: 'Reason why the returned rules may be incomplete.' }),
  },
  { name: 'SubjectRulesReviewStatus', doc: 'Permissions of the requesting user.' },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Namespace for which to list the permissions.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'Permissions of the requesting user, set by the server.' }),
}

export type SelfSubjectRulesReview = ObjectOf<typeof fields>

export const selfSubjectRulesReview = defineKind({
  names: {
    group: 'authorization',
    version: 'v1',
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    scope: 'Cluster',
  },
  doc: 'Lists the permissions of the requesting user in a namespace, for display only. The review is not stored.',
  fields,
  lifecycle: { virtual: true },
})

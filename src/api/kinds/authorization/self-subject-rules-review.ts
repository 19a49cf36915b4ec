/** SelfSubjectRulesReview: what may I do here? It is answered (`apiserver/resources/rules-review.ts`) and never stored. */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const words = s.list(s.string())

const spec = s.object(
  { namespace: field(1, s.string(), { doc: 'The namespace in question.' }) },
  { name: 'SelfSubjectRulesReviewSpec', doc: 'Where one would do something.' },
)

export const resourceRuleType = s.object(
  {
    verbs: field(1, words, { zero: 'write', published: 'required', doc: 'What may be done.' }),
    apiGroups: field(2, words, { doc: 'In which API groups.' }),
    resources: field(3, words, { doc: 'To which resources.' }),
    resourceNames: field(4, words, { doc: 'The names of the objects; every name if empty.' }),
  },
  { name: 'ResourceRule', doc: 'Verbs that are allowed on resources.' },
)

export const nonResourceRuleType = s.object(
  {
    verbs: field(1, words, { zero: 'write', published: 'required', doc: 'What may be done.' }),
    nonResourceURLs: field(2, words, { doc: 'To which paths.' }),
  },
  { name: 'NonResourceRule', doc: 'Verbs that are allowed on paths.' },
)

const status = s.object(
  {
    resourceRules: field(1, s.list(resourceRuleType), {
      zero: 'write',
      published: 'required',
      doc: 'What is allowed on resources, in no particular order.',
    }),
    nonResourceRules: field(2, s.list(nonResourceRuleType), {
      zero: 'write',
      published: 'required',
      doc: 'What is allowed on paths, in no particular order.',
    }),
    incomplete: field(3, s.boolean(), {
      zero: 'write',
      published: 'required',
      doc: 'Whether the list of rules may be incomplete.',
    }),
    evaluationError: field(4, s.string(), { doc: 'Why it is incomplete.' }),
  },
  { name: 'SubjectRulesReviewStatus', doc: 'What the requesting user may do.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', published: 'required', doc: 'The question.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
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
  doc: 'A question: what may I do in this namespace? For display; the answer comes at once, and nothing is stored.',
  fields,
  life: { virtual: true },
})

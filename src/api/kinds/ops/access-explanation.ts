/**
 * AccessExplanation: why somebody may do this, or why not. It is answered (`apiserver/resources/access-questions.ts`) and never
 * stored.
 */

import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { checkQuestion, subjectFields } from '../authorization/review.ts'

const words = s.list(s.string())

const rule = s.object(
  {
    verbs: field(1, words, { doc: 'What may be done.' }),
    apiGroups: field(2, words, { doc: 'In which API groups.' }),
    resources: field(3, words, { doc: 'To which resources.' }),
    resourceNames: field(4, words, { doc: 'To objects of which names.' }),
    nonResourceURLs: field(5, words, { doc: 'To which paths.' }),
  },
  { name: 'ExplainedRule', doc: 'A rule of a role.' },
)

const nearRule = s.object(
  {
    rule: field(1, rule, { doc: 'The rule.' }),
    role: field(2, s.string(), { doc: 'The role that it is in: `ClusterRole/view`.' }),
    binding: field(3, s.string(), { doc: 'The binding that it came by: `RoleBinding/default/readers`.' }),
    lacks: field(4, words, { doc: 'What of the request it does not allow: verb, apiGroup, resource, name or path.' }),
  },
  { name: 'NearRule', doc: 'A rule that the user has and that nearly allows the request.' },
)

const status = s.object(
  {
    allowed: field(1, s.boolean(), { zero: 'write', doc: 'Whether it would be allowed.' }),
    reason: field(2, s.string(), { doc: 'Why.' }),
    nearRules: field(3, s.list(nearRule), { doc: 'The rules that come nearest, where it would not.' }),
    smallestRule: field(4, rule, { doc: 'The smallest rule that would allow it.' }),
  },
  { name: 'AccessExplanationStatus', doc: 'The explanation.' },
)

const spec = s.object(subjectFields, {
  name: 'AccessExplanationSpec',
  doc: 'The user and the action; the requesting user, where no user and no group is named.',
})

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The question.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
}

export type AccessExplanation = ObjectOf<typeof fields>

export const accessExplanation = defineKind({
  names: {
    group: 'ops',
    version: 'v1',
    kind: 'AccessExplanation',
    plural: 'accessexplanations',
    scope: 'Cluster',
  },
  doc: 'Asks why a user may or may not do something. The answer is in the status; nothing is stored.',
  fields,
  rules: { validate: (object) => checkQuestion(object.spec ?? {}) },
  life: { virtual: true },
})

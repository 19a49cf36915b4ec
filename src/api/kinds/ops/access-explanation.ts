/**
 * An AccessExplanation explains why a user may or may not perform an action. `apiserver/resources/access-questions.ts`
 * computes it on request. It is never stored.
 */

import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { checkQuestion, subjectFields } from '../authorization/review.ts'

const words = s.list(s.string())

const rule = s.object(
  {
    verbs: field(1, words, { doc: 'Verbs that the rule permits.' }),
    apiGroups: field(2, words, { doc: 'API groups that the rule covers.' }),
    resources: field(3, words, { doc: 'Resources that the rule covers.' }),
    resourceNames: field(4, words, {
      doc: 'Names of the objects that the rule covers. If empty, the rule covers all objects.',
    }),
    nonResourceURLs: field(5, words, { doc: 'Non-resource URLs that the rule covers.' }),
  },
  { name: 'ExplainedRule', doc: 'A rule of a role.' },
)

const nearRule = s.object(
  {
    rule: field(1, rule, { doc: 'Rule that comes close to permitting the request.' }),
    role: field(2, s.string(), { doc: 'Role that contains the rule, for example `ClusterRole/view`.' }),
    binding: field(3, s.string(), { doc: 'Binding that grants the role, for example `RoleBinding/default/readers`.' }),
    lacks: field(4, words, {
      doc: 'Parts of the request that the rule does not cover: `verb`, `apiGroup`, `resource`, `name` or `path`.',
    }),
  },
  { name: 'NearRule', doc: 'A rule that applies to the user and comes close to permitting the request.' },
)

const status = s.object(
  {
    allowed: field(1, s.boolean(), { zeroValue: 'write', doc: 'Whether the user may perform the action.' }),
    reason: field(2, s.string(), { doc: 'Reason for the decision.' }),
    nearRules: field(3, s.list(nearRule), {
      doc: 'Rules that come closest to permitting the action. Set only if the action is denied.',
    }),
    smallestRule: field(4, rule, { doc: 'Minimal rule that would permit the action.' }),
  },
  { name: 'AccessExplanationStatus', doc: 'Explanation of an access decision.' },
)

const spec = s.object(subjectFields, {
  name: 'AccessExplanationSpec',
  doc: 'User, and the action to explain. Defaults to the requesting user if neither a user nor a group is given.',
})

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'User, and the action to explain.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Explanation of the decision, set by the server.' }),
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
  doc: 'Explains why a user may or may not perform an action. The result is returned in the status and is not stored.',
  fields,
  rules: { validate: (object) => checkQuestion(object.spec ?? {}) },
  lifecycle: { virtual: true },
})

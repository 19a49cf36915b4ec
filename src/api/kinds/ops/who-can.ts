/**
 * WhoCan: all subjects that may do something, and why. It is answered (`apiserver/resources/access-questions.ts`) and never
 * stored.
 */

import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { checkQuestion, questionFields } from '../authorization/review.ts'

const subject = s.object(
  {
    kind: field(1, s.string(), { doc: 'User, Group or ServiceAccount.' }),
    name: field(2, s.string(), { doc: 'The name.' }),
    namespace: field(3, s.string(), { doc: 'The namespace of a service account.' }),
    role: field(4, s.string(), { doc: 'The role that allows it: `ClusterRole/view`.' }),
    binding: field(5, s.string(), { doc: 'The binding that it came by: `RoleBinding/default/readers`.' }),
  },
  { name: 'WhoCanSubject', doc: 'A subject that may do it, and why.' },
)

const status = s.object(
  {
    subjects: field(1, s.list(subject), { zero: 'write', doc: 'All subjects that roles and bindings allow to do it.' }),
    incomplete: field(2, s.boolean(), { zero: 'write', doc: 'Whether there may be more.' }),
    notes: field(3, s.list(s.string()), { doc: 'Other users that may do it, or why the list may be incomplete.' }),
  },
  { name: 'WhoCanStatus', doc: 'The subjects that may do it.' },
)

const spec = s.object(questionFields, { name: 'WhoCanSpec', doc: 'What would be done.' })

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The question.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
}

export type WhoCan = ObjectOf<typeof fields>

export const whoCan = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'WhoCan', plural: 'whocans', scope: 'Cluster' },
  doc: 'Asks who may do something, and why. The answer is in the status; nothing is stored.',
  fields,
  rules: { validate: (object) => checkQuestion(object.spec ?? {}) },
  life: { virtual: true },
})

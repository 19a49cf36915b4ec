/**
 * WhoCan lists the subjects that may perform an action, and the roles that permit it.
 * `apiserver/resources/access-questions.ts` computes it on request. It is never stored.
 */

import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { checkQuestion, questionFields } from '../authorization/review.ts'

const subject = s.object(
  {
    kind: field(1, s.string(), { doc: 'Kind of the subject: `User`, `Group` or `ServiceAccount`.' }),
    name: field(2, s.string(), { doc: 'Name of the subject.' }),
    namespace: field(3, s.string(), { doc: 'Namespace of the service account.' }),
    role: field(4, s.string(), { doc: 'Role that permits the action, for example `ClusterRole/view`.' }),
    binding: field(5, s.string(), { doc: 'Binding that grants the role, for example `RoleBinding/default/readers`.' }),
  },
  { name: 'WhoCanSubject', doc: 'A subject that may perform the action, and the role that permits the action.' },
)

const status = s.object(
  {
    subjects: field(1, s.list(subject), {
      zeroValue: 'write',
      doc: 'Subjects that roles and bindings permit to perform the action.',
    }),
    incomplete: field(2, s.boolean(), { zeroValue: 'write', doc: 'Whether the list of subjects may be incomplete.' }),
    notes: field(3, s.list(s.string()), {
      doc: 'Other users who may perform the action, or reasons why the list may be incomplete.',
    }),
  },
  { name: 'WhoCanStatus', doc: 'Subjects that may perform the action.' },
)

const spec = s.object(questionFields, { name: 'WhoCanSpec', doc: 'Action for which to list the permitted subjects.' })

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Action for which to list the permitted subjects.' }),
  status: field(3, status, {
    zeroValue: 'write',
    doc: 'Subjects that may perform the action, set by the server.',
  }),
}

export type WhoCan = ObjectOf<typeof fields>

export const whoCan = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'WhoCan', plural: 'whocans', scope: 'Cluster' },
  doc: 'Lists who may perform an action, and why. The result is returned in the status and is not stored.',
  fields,
  rules: { validate: (object) => checkQuestion(object.spec ?? {}) },
  lifecycle: { virtual: true },
})

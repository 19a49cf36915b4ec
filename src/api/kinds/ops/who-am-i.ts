/**
 * WhoAmI is the identity of the requesting user. `apiserver/resources/access-questions.ts` computes it on request. It
 * is never stored.
 */

import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const status = s.object(
  {
    user: field(1, s.string(), { doc: 'Name of the user.' }),
    uid: field(2, s.string(), { doc: 'UID of the user.' }),
    groups: field(3, s.list(s.string()), { doc: 'Groups of the user.' }),
    extra: field(4, s.map(s.list(s.string())), {
      doc: 'Additional attributes of the user, provided by the authenticator.',
    }),
  },
  { name: 'WhoAmIStatus', doc: 'User attributes on which authorization decisions are based.' },
)

const fields = {
  status: field(3, status, { zeroValue: 'write', doc: 'Identity of the requesting user, set by the server.' }),
}

export type WhoAmI = ObjectOf<typeof fields>

export const whoAmI = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'WhoAmI', plural: 'whoamis', scope: 'Cluster' },
  doc: 'Returns the identity of the requesting user. The result is returned in the status and is not stored.',
  fields,
  lifecycle: { virtual: true },
})

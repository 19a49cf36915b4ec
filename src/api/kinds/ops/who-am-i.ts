/** WhoAmI: who the server takes the asker for. It is answered (`apiserver/resources/access-questions.ts`) and never stored. */

import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const status = s.object(
  {
    user: field(1, s.string(), { doc: 'The name of the user.' }),
    uid: field(2, s.string(), { doc: 'The UID of the user.' }),
    groups: field(3, s.list(s.string()), { doc: 'The groups that the user is in.' }),
    extra: field(4, s.map(s.list(s.string())), { doc: 'Extra information about the user.' }),
  },
  { name: 'WhoAmIStatus', doc: 'A user, as authorization sees it.' },
)

const fields = { status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }) }

export type WhoAmI = ObjectOf<typeof fields>

export const whoAmI = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'WhoAmI', plural: 'whoamis', scope: 'Cluster' },
  doc: 'Asks who the requesting user is. The answer is in the status; nothing is stored.',
  fields,
  life: { virtual: true },
})

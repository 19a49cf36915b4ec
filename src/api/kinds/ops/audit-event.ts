/**
 * AuditEvent: a request that the server that answers has recorded lately: who did what, and how it ended. It is shown
 * (`apiserver/resources/audit-events.ts`) from memory and never stored; its name is the `Audit-Id` of the answer.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const fields = {
  time: field(2, s.microTime(), { doc: 'When the request arrived.' }),
  user: field(3, s.string(), { doc: 'The user who sent the request.' }),
  impersonated: field(4, s.string(), { doc: 'The user as whom it was made, where that is another one.' }),
  verb: field(5, s.string(), { doc: 'The verb, such as create.' }),
  resource: field(6, s.string(), {
    doc: 'The resource with its group and sub-resource, such as deployments.apps/scale.',
  }),
  namespace: field(7, s.string(), { doc: 'The namespace of the object.' }),
  object: field(8, s.string(), { doc: 'The name of the object.' }),
  code: field(9, s.int32(), { doc: 'The code of the answer.' }),
  event: field(10, s.any({ name: 'runtime.RawExtension', doc: 'An event of the audit log.' }), {
    doc: 'The whole event, as the audit log has it.',
  }),
}

export type AuditEventObject = ObjectOf<typeof fields>

const columns: readonly Column<AuditEventObject>[] = [
  nameColumn,
  column('Time', 'When the request arrived.', (event) => event.time ?? ''),
  column('User', 'Who sent it.', (event) => event.user ?? ''),
  column('Verb', 'What was asked for.', (event) => event.verb ?? ''),
  column('Resource', 'Of which resource.', (event) => event.resource ?? ''),
  column('Object', 'Of which object.', ({ namespace, object = '' }) => (namespace ? `${namespace}/${object}` : object)),
  column('Code', 'The code of the answer.', (event) => String(event.code ?? '')),
]

export const auditEvent = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'AuditEvent', plural: 'auditevents', scope: 'Cluster' },
  doc: 'A request that the server that answers has recorded lately.',
  fields,
  life: { virtual: true, verbs: ['get', 'list'] },
  views: { columns },
})

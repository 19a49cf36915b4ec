/**
 * An AuditEvent is a recent request that the responding server recorded, with its user, action and outcome.
 * `apiserver/resources/audit-events.ts` serves it from memory. It is never stored. Its name is the `Audit-Id` of the
 * response.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const fields = {
  time: field(2, s.microTime(), { doc: 'Time when the server received the request.' }),
  user: field(3, s.string(), { doc: 'User who sent the request.' }),
  impersonated: field(4, s.string(), { doc: 'Impersonated user, if any.' }),
  verb: field(5, s.string(), { doc: 'Request verb, such as `create`.' }),
  resource: field(6, s.string(), {
    doc: 'Requested resource, including its group and subresource, for example `deployments.apps/scale`.',
  }),
  namespace: field(7, s.string(), { doc: 'Namespace of the object.' }),
  object: field(8, s.string(), { doc: 'Name of the object.' }),
  code: field(9, s.int32(), { doc: 'HTTP status code of the response.' }),
  event: field(10, s.any({ name: 'runtime.RawExtension', doc: 'An event in the audit log.' }), {
    doc: 'Complete event, in the audit log format.',
  }),
}

export type AuditEventObject = ObjectOf<typeof fields>

const columns: readonly Column<AuditEventObject>[] = [
  nameColumn,
  column('Time', 'Time when the server received the request.', (event) => event.time ?? ''),
  column('User', 'User who sent the request.', (event) => event.user ?? ''),
  column('Verb', 'Request verb.', (event) => event.verb ?? ''),
  column('Resource', 'Requested resource.', (event) => event.resource ?? ''),
  column('Object', 'Namespace and name of the object.', ({ namespace, object = '' }) =>
    namespace ? `${namespace}/${object}` : object,
  ),
  column('Code', 'HTTP status code of the response.', (event) => String(event.code ?? '')),
]

export const auditEvent = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'AuditEvent', plural: 'auditevents', scope: 'Cluster' },
  doc: 'A recent request that the responding server recorded.',
  fields,
  lifecycle: { virtual: true, verbs: ['get', 'list'] },
  views: { columns },
})

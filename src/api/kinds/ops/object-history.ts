/**
 * ObjectHistory contains the changes to an object, newest first, with author, time, verb and changed fields.
 * `apiserver/resources/object-history.ts` reads it from the journal. It is never stored. Users need permission to get
 * the object.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const json = s.any({ name: 'runtime.RawExtension', doc: 'Any JSON value.' })

const step = s.object(
  {
    member: field(1, s.string(), { doc: 'Name of the field. Set if the path element is a field.' }),
    named: field(2, s.string(), { doc: 'Name of the list element. Set if the path element is a list element.' }),
  },
  { name: 'HistoryStep', doc: 'One element of a field path: either a field or a list element.' },
)

const change = s.object(
  {
    path: field(1, s.string(), { doc: 'Path of the changed field, for example `.spec.containers[name=web].image`.' }),
    steps: field(2, s.list(step), { doc: 'Elements of the path in machine-readable form.' }),
    before: field(3, json, { doc: 'Previous value. Unset if the field was added.' }),
    after: field(4, json, { doc: 'New value. Unset if the field was removed.' }),
    concealed: field(5, s.boolean(), { doc: 'Whether the values are omitted because they are confidential.' }),
  },
  { name: 'HistoryChange', doc: 'A changed field.' },
)

const revision = s.object(
  {
    revision: field(1, s.string(), { doc: '`resourceVersion` of the object after the change.' }),
    time: field(2, s.string(), { doc: 'Time of the change.' }),
    user: field(3, s.string(), { doc: 'User who made the change.' }),
    manager: field(4, s.string(), { doc: 'Field manager that made the change.' }),
    verb: field(5, s.string(), {
      doc: "Verb of the request: `create`, `update`, `patch`, `apply` or `delete`, or `expire` if the object's lifetime ended.",
    }),
    subresource: field(6, s.string(), { doc: 'Subresource through which the object was changed.' }),
    uid: field(7, s.string(), { doc: 'UID of the object.' }),
    deleted: field(8, s.boolean(), { doc: 'Whether the change removed the object.' }),
    changes: field(9, s.list(change), { doc: 'Changed fields. Empty for the oldest known state of the object.' }),
    beyond: field(10, s.boolean(), {
      doc: 'Whether the change was made before recording began. The author and time of such a change are unknown.',
    }),
    created: field(11, s.boolean(), { doc: 'Whether the change created the object.' }),
  },
  { name: 'HistoryRevision', doc: 'A change to the object.' },
)

const status = s.object(
  {
    revisions: field(1, s.list(revision), { zeroValue: 'write', doc: 'Changes to the object, newest first.' }),
    more: field(2, s.boolean(), {
      doc: 'Whether there are older changes. To get them, set `before` to the oldest revision in this response.',
    }),
    oldest: field(3, s.string(), { doc: 'Oldest `resourceVersion` in the recorded history.' }),
  },
  { name: 'ObjectHistoryStatus', doc: 'The changes to an object.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { doc: 'API group of the object. Empty for the core group.' }),
    resource: field(2, s.string(), { doc: 'Plural name of the resource type.', required: true }),
    namespace: field(3, s.string(), { doc: 'Namespace of the object. Empty if the object is cluster-scoped.' }),
    name: field(4, s.string(), { doc: 'Name of the object.', required: true }),
    before: field(5, s.string(), {
      doc: 'Lists only changes before this `resourceVersion`. If empty, the list starts with the most recent change.',
    }),
    limit: field(6, s.int32(), { doc: 'Maximum number of changes to return. At most 100. Defaults to 20.' }),
  },
  { name: 'ObjectHistorySpec', doc: 'Reference to an object, and the range of changes to return.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Object, and the range of changes to return.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Changes to the object, set by the server.' }),
}

export type ObjectHistory = ObjectOf<typeof fields>

export const objectHistory = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'ObjectHistory', plural: 'objecthistories', scope: 'Cluster' },
  doc: 'Lists who changed an object, when, and how. The result is returned in the status and is not stored.',
  fields,
  lifecycle: { virtual: true },
})

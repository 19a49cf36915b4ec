/**
 * PastState contains an object, or all objects of a type, as of an earlier resourceVersion or time.
 * `apiserver/resources/past-state.ts` reads it from the journal. It is never stored. Users need permission to get or
 * list the objects.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const object = s.any({ name: 'runtime.RawExtension', doc: 'An earlier state of an object.' })

const status = s.object(
  {
    revision: field(1, s.string(), { doc: '`resourceVersion` of the returned state.' }),
    items: field(2, s.list(object), { zeroValue: 'write', doc: 'Objects in the requested state, sorted by name.' }),
    continue: field(3, s.string(), {
      doc: 'Token for requesting the next page of objects. Unset on the last page.',
    }),
  },
  { name: 'PastStateStatus', doc: 'Objects as they were at an earlier time.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { doc: 'API group of the objects. Empty for the core group.' }),
    resource: field(2, s.string(), { doc: 'Plural name of the resource type.', required: true }),
    namespace: field(3, s.string(), {
      doc: 'Namespace of the objects. Leave empty for cluster-scoped types, or to return objects in all namespaces.',
    }),
    name: field(4, s.string(), { doc: 'Name of the object. If empty, all objects are returned.' }),
    revision: field(5, s.string(), {
      doc: '`resourceVersion` of the requested state. Exactly one of `revision` and `time` must be set.',
    }),
    time: field(6, s.string(), {
      doc: 'Time of the requested state, for example `2026-11-16T12:00:00Z`. Exactly one of `revision` and `time` must be set.',
    }),
    limit: field(7, s.int32(), { doc: 'Maximum number of objects to return. At most 500. Defaults to 500.' }),
    continue: field(8, s.string(), { doc: 'Token from the previous page, for requesting the next page.' }),
  },
  { name: 'PastStateSpec', doc: 'Objects to return, and the revision or time of their state.' },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    doc: 'Objects to return, and the revision or time of their state.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'Objects in the requested state, set by the server.' }),
}

export type PastState = ObjectOf<typeof fields>

export const pastState = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'PastState', plural: 'paststates', scope: 'Cluster' },
  doc: 'Returns objects as they were at an earlier `resourceVersion` or time. The result is returned in the status and is not stored.',
  fields,
  lifecycle: { virtual: true },
})

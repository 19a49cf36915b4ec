/**
 * PastState: an object, or all objects of a type, at an earlier resourceVersion or time. Read from the journal by
 * `apiserver/resources/past-state.ts` and never stored. Requires permission to get or list the objects.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const object = s.any({ name: 'runtime.RawExtension', doc: 'An earlier state of an object.' })

const status = s.object(
  {
    revision: field(1, s.string(), { doc: 'resourceVersion of the returned state.' }),
    items: field(2, s.list(object), { zeroValue: 'write', doc: 'Objects in that state, sorted by name.' }),
    continue: field(3, s.string(), { doc: 'Token for requesting the next objects. Unset on the last page.' }),
  },
  { name: 'PastStateStatus', doc: 'Objects in an earlier state.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { doc: 'API group of the objects. Empty means the core group.' }),
    resource: field(2, s.string(), { doc: 'Plural name of the resource type.', required: true }),
    namespace: field(3, s.string(), {
      doc: 'Namespace of the objects. Empty for all namespaces and for cluster-scoped types.',
    }),
    name: field(4, s.string(), { doc: 'Name of the object. Empty means all objects.' }),
    revision: field(5, s.string(), {
      doc: 'resourceVersion of the requested state. Mutually exclusive with `time`; one of the two is required.',
    }),
    time: field(6, s.string(), {
      doc: 'Time of the requested state, such as `2026-11-16T12:00:00Z`. Mutually exclusive with `revision`.',
    }),
    limit: field(7, s.int32(), { doc: 'Maximum number of objects to return, at most 500. Defaults to 500.' }),
    continue: field(8, s.string(), { doc: 'Continue token from the previous response.' }),
  },
  { name: 'PastStateSpec', doc: 'Selection of objects and the point in time.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Selection of objects and the point in time.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Objects in the requested state, filled in by the server.' }),
}

export type PastState = ObjectOf<typeof fields>

export const pastState = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'PastState', plural: 'paststates', scope: 'Cluster' },
  doc: 'Returns objects as of an earlier resourceVersion or time. The answer is in the status; nothing is stored.',
  fields,
  lifecycle: { virtual: true },
})

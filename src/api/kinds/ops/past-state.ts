/**
 * PastState: an object, or the objects of a type, as they were at a resourceVersion or a time. It is answered
 * (`apiserver/resources/past-state.ts`) from the journal of the store and never stored. Whoever may get or list them may ask.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const object = s.any({ name: 'runtime.RawExtension', doc: 'An object as it was.' })

const status = s.object(
  {
    revision: field(1, s.string(), { doc: 'The resourceVersion whose state this is.' }),
    items: field(2, s.list(object), { zero: 'write', doc: 'The objects, in the order of their names.' }),
    continue: field(3, s.string(), { doc: 'Where the rest begins, if this is not all: ask again with it.' }),
  },
  { name: 'PastStateStatus', doc: 'The objects as they were.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { doc: 'The API group; empty for the core group.' }),
    resource: field(2, s.string(), { doc: 'The resource type in the plural.', required: true }),
    namespace: field(3, s.string(), { doc: 'The namespace; empty for all, or for a type without namespaces.' }),
    name: field(4, s.string(), { doc: 'The name of the object; empty for all of them.' }),
    revision: field(5, s.string(), { doc: 'The resourceVersion; this or the time.' }),
    time: field(6, s.string(), { doc: 'The time, as in 2026-11-16T12:00:00Z.' }),
    limit: field(7, s.int32(), { doc: 'The most objects in the answer: 500 at most.' }),
    continue: field(8, s.string(), { doc: 'Where to go on, from the answer before.' }),
  },
  { name: 'PastStateSpec', doc: 'What is asked for, and as of when.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'What is asked for.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
}

export type PastState = ObjectOf<typeof fields>

export const pastState = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'PastState', plural: 'paststates', scope: 'Cluster' },
  doc: 'A question: how were these objects at a revision or a time? The answer comes at once; nothing is stored.',
  fields,
  life: { virtual: true },
})

/**
 * ObjectHistory: the changes of an object, newest first, each with who made it, when, how and what changed. It is answered
 * (`apiserver/resources/object-history.ts`) from the journal of the store and never stored. Whoever may get the object may ask.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const json = s.any({ name: 'runtime.RawExtension', doc: 'Any value.' })

const step = s.object(
  {
    member: field(1, s.string(), { doc: 'The name of a member.' }),
    named: field(2, s.string(), { doc: 'The name of an element of a list.' }),
  },
  { name: 'HistoryStep', doc: 'A step of the path to a field: one of the two.' },
)

const change = s.object(
  {
    path: field(1, s.string(), { doc: 'The field, as in .spec.containers[name=web].image.' }),
    steps: field(2, s.list(step), { doc: 'The same for programs.' }),
    before: field(3, json, { doc: 'Its value before; absent where there was none.' }),
    after: field(4, json, { doc: 'Its value after; absent where there is none.' }),
    concealed: field(5, s.boolean(), { doc: 'Whether the values are secret, and left out.' }),
  },
  { name: 'HistoryChange', doc: 'A field that changed.' },
)

const revision = s.object(
  {
    revision: field(1, s.string(), { doc: 'The resourceVersion that the change gave the object.' }),
    time: field(2, s.string(), { doc: 'When it was made.' }),
    user: field(3, s.string(), { doc: 'The user who made it.' }),
    manager: field(4, s.string(), { doc: 'The field manager.' }),
    verb: field(5, s.string(), { doc: 'How: create, update, patch, apply, delete; expire for the end of a lifetime.' }),
    subresource: field(6, s.string(), { doc: 'The subresource that was written through.' }),
    uid: field(7, s.string(), { doc: 'The UID of the object.' }),
    deleted: field(8, s.boolean(), { doc: 'Whether it removed the object.' }),
    changes: field(9, s.list(change), { doc: 'What changed; nothing for the oldest state that is known.' }),
    beyond: field(10, s.boolean(), { doc: 'Whether the change is older than the history: who made it is not known.' }),
    created: field(11, s.boolean(), { doc: 'Whether it created the object.' }),
  },
  { name: 'HistoryRevision', doc: 'A change of the object.' },
)

const status = s.object(
  {
    revisions: field(1, s.list(revision), { zero: 'write', doc: 'The changes, newest first.' }),
    more: field(2, s.boolean(), { doc: 'Whether there are older ones: ask again with before.' }),
    oldest: field(3, s.string(), { doc: 'The oldest resourceVersion at which states are known.' }),
  },
  { name: 'ObjectHistoryStatus', doc: 'The history.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { doc: 'The API group of the object; empty for the core group.' }),
    resource: field(2, s.string(), { doc: 'The resource type in the plural.', required: true }),
    namespace: field(3, s.string(), { doc: 'The namespace of the object; empty for an object without one.' }),
    name: field(4, s.string(), { doc: 'The name of the object.', required: true }),
    before: field(5, s.string(), { doc: 'Only changes before this resourceVersion.' }),
    limit: field(6, s.int32(), { doc: 'The most changes in the answer: 20 by default, 100 at most.' }),
  },
  { name: 'ObjectHistorySpec', doc: 'The object.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The object in question.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
}

export type ObjectHistory = ObjectOf<typeof fields>

export const objectHistory = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'ObjectHistory', plural: 'objecthistories', scope: 'Cluster' },
  doc: 'A question: who changed an object, when, and what? The answer comes at once; nothing is stored.',
  fields,
  life: { virtual: true },
})

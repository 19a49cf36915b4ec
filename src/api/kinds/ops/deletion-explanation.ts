/**
 * DeletionExplanation: what the deletion of an object waits for, and since when. It is answered
 * (`apiserver/resources/deletion-explanation.ts`) and never stored.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const dependent = s.object(
  {
    apiVersion: field(1, s.string(), { doc: 'The API group and version.' }),
    kind: field(2, s.string(), { doc: 'The kind.' }),
    namespace: field(3, s.string(), { doc: 'The namespace; empty for an object without one.' }),
    name: field(4, s.string(), { doc: 'The name.' }),
    blocks: field(5, s.boolean(), { zero: 'write', doc: 'Whether a foreground deletion of the owner waits for it.' }),
    deletionTimestamp: field(6, s.string(), { doc: 'When its own deletion began, where it has.' }),
    finalizers: field(7, s.list(s.string()), { doc: 'The finalizers that hold it.' }),
  },
  { name: 'DependentObject', doc: 'An object that names the deleted one as its owner.' },
)

const reason = s.object(
  {
    finalizer: field(1, s.string(), { doc: 'The finalizer; empty where the deletion waits for something else.' }),
    message: field(2, s.string(), { doc: 'What has to happen before the object can go.' }),
  },
  { name: 'DeletionReason', doc: 'Something that a deletion waits for.' },
)

const status = s.object(
  {
    deleting: field(1, s.boolean(), { zero: 'write', doc: 'Whether the object is being deleted.' }),
    since: field(2, s.string(), { doc: 'When the deletion began.' }),
    reasons: field(3, s.list(reason), { doc: 'What the deletion waits for.' }),
    dependents: field(4, s.list(dependent), { doc: 'The first 100 objects that it owns, blocking ones first.' }),
    dependentCount: field(5, s.int32(), {
      zero: 'write',
      doc: 'The number of objects that it owns and that the caller may list.',
    }),
    hiddenTypes: field(6, s.list(s.string()), {
      doc: 'Types that the caller may not list; dependents may be among them.',
    }),
  },
  { name: 'DeletionExplanationStatus', doc: 'What the deletion waits for.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { doc: 'The API group of the object; empty for the core group.' }),
    resource: field(2, s.string(), { doc: 'The resource type in the plural.', required: true }),
    namespace: field(3, s.string(), { doc: 'The namespace of the object; empty for an object without one.' }),
    name: field(4, s.string(), { doc: 'The name of the object.', required: true }),
  },
  { name: 'DeletionExplanationSpec', doc: 'The object.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The object in question.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
}

export type DeletionExplanation = ObjectOf<typeof fields>

export const deletionExplanation = defineKind({
  names: {
    group: 'ops',
    version: 'v1',
    kind: 'DeletionExplanation',
    plural: 'deletionexplanations',
    scope: 'Cluster',
  },
  doc: 'A question: what does the deletion of an object wait for? The answer comes at once; nothing is stored.',
  fields,
  life: { virtual: true },
})

/**
 * A DeletionExplanation reports what blocks the deletion of an object. `apiserver/resources/deletion-explanation.ts`
 * computes it on request. It is never stored.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const dependent = s.object(
  {
    apiVersion: field(1, s.string(), { doc: 'API group and version of the dependent object.' }),
    kind: field(2, s.string(), { doc: 'Kind of the dependent object.' }),
    namespace: field(3, s.string(), {
      doc: 'Namespace of the dependent object. Empty if the object is cluster-scoped.',
    }),
    name: field(4, s.string(), { doc: 'Name of the dependent object.' }),
    blocks: field(5, s.boolean(), {
      zeroValue: 'write',
      doc: 'Whether the dependent object blocks foreground deletion of its owner.',
    }),
    deletionTimestamp: field(6, s.string(), {
      doc: 'Time when deletion of the dependent object was requested. Unset if the object is not being deleted.',
    }),
    finalizers: field(7, s.list(s.string()), {
      doc: 'Finalizers that have not yet been removed from the dependent object.',
    }),
  },
  { name: 'DependentObject', doc: 'An object that lists the deleted object as an owner.' },
)

const reason = s.object(
  {
    finalizer: field(1, s.string(), {
      doc: 'Finalizer that blocks the deletion. Empty if the deletion is blocked for another reason.',
    }),
    message: field(2, s.string(), { doc: 'What must happen before the object can be removed.' }),
  },
  { name: 'DeletionReason', doc: 'A reason why an object has not been removed yet.' },
)

const status = s.object(
  {
    deleting: field(1, s.boolean(), { zeroValue: 'write', doc: 'Whether the object is being deleted.' }),
    since: field(2, s.string(), { doc: 'Time when deletion was requested.' }),
    reasons: field(3, s.list(reason), { doc: 'Reasons why the object has not been removed yet.' }),
    dependents: field(4, s.list(dependent), {
      doc: 'Dependent objects, with those that block the deletion first. At most 100 are listed.',
    }),
    dependentCount: field(5, s.int32(), {
      zeroValue: 'write',
      doc: 'Total number of dependent objects that the requesting user may list.',
    }),
    hiddenTypes: field(6, s.list(s.string()), {
      doc: 'Resource types that the requesting user may not list. Objects of these types may also be dependents.',
    }),
  },
  { name: 'DeletionExplanationStatus', doc: 'Explains what blocks the deletion of an object.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { doc: 'API group of the object. Empty for the core group.' }),
    resource: field(2, s.string(), { doc: 'Plural name of the resource type.', required: true }),
    namespace: field(3, s.string(), { doc: 'Namespace of the object. Empty if the object is cluster-scoped.' }),
    name: field(4, s.string(), { doc: 'Name of the object.', required: true }),
  },
  { name: 'DeletionExplanationSpec', doc: 'Reference to the object whose deletion is to be explained.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Object whose deletion is to be explained.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Explanation of what blocks the deletion, set by the server.' }),
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
  doc: 'Explains what blocks the deletion of an object. The result is returned in the status and is not stored.',
  fields,
  lifecycle: { virtual: true },
})

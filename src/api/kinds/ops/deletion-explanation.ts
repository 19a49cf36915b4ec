/**
 * DeletionExplanation: reports what blocks the deletion of an object. Computed on request by
 * `apiserver/resources/deletion-explanation.ts` and never stored.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const dependent = s.object(
  {
    apiVersion: field(1, s.string(), { doc: 'API group and version of the dependent.' }),
    kind: field(2, s.string(), { doc: 'Kind of the dependent.' }),
    namespace: field(3, s.string(), { doc: 'Namespace of the dependent. Empty for cluster-scoped objects.' }),
    name: field(4, s.string(), { doc: 'Name of the dependent.' }),
    blocks: field(5, s.boolean(), {
      zeroValue: 'write',
      doc: 'Whether the dependent blocks foreground deletion of its owner.',
    }),
    deletionTimestamp: field(6, s.string(), {
      doc: 'Time the deletion of the dependent was requested. Unset if it is not being deleted.',
    }),
    finalizers: field(7, s.list(s.string()), { doc: 'Pending finalizers on the dependent.' }),
  },
  { name: 'DependentObject', doc: 'An object that lists the deleted object as its owner.' },
)

const reason = s.object(
  {
    finalizer: field(1, s.string(), { doc: 'Finalizer that blocks the deletion. Empty if something else blocks it.' }),
    message: field(2, s.string(), { doc: 'What must happen before the object can be removed.' }),
  },
  { name: 'DeletionReason', doc: 'A reason why an object has not been removed yet.' },
)

const status = s.object(
  {
    deleting: field(1, s.boolean(), { zeroValue: 'write', doc: 'Whether the object is being deleted.' }),
    since: field(2, s.string(), { doc: 'Time the deletion was requested.' }),
    reasons: field(3, s.list(reason), { doc: 'Reasons why the object has not been removed yet.' }),
    dependents: field(4, s.list(dependent), {
      doc: 'Dependents of the object, blocking ones first. At most 100 are listed.',
    }),
    dependentCount: field(5, s.int32(), {
      zeroValue: 'write',
      doc: 'Total number of dependents that the requesting user may list.',
    }),
    hiddenTypes: field(6, s.list(s.string()), {
      doc: 'Resource types that the requesting user may not list. They may contain further dependents.',
    }),
  },
  { name: 'DeletionExplanationStatus', doc: 'Explanation of what blocks a deletion.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { doc: 'API group of the object. Empty means the core group.' }),
    resource: field(2, s.string(), { doc: 'Plural name of the resource type.', required: true }),
    namespace: field(3, s.string(), { doc: 'Namespace of the object. Empty for cluster-scoped objects.' }),
    name: field(4, s.string(), { doc: 'Name of the object.', required: true }),
  },
  { name: 'DeletionExplanationSpec', doc: 'Reference to the object whose deletion is explained.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Object whose deletion is explained.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Explanation, filled in by the server.' }),
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
  doc: 'Explains what blocks the deletion of an object. The answer is in the status; nothing is stored.',
  fields,
  lifecycle: { virtual: true },
})

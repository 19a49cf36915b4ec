/** The schema of the metadata that every object carries. */
import { field, s } from './schema.ts'

const ownerReference = s.object(
  {
    apiVersion: field(5, s.string(), { zero: 'write', doc: 'The group and version of the owner.' }),
    kind: field(1, s.string(), { zero: 'write', doc: 'The kind of the owner.' }),
    name: field(3, s.string(), { zero: 'write', doc: 'The name of the owner.' }),
    uid: field(4, s.string(), { zero: 'write', doc: 'The uid of the owner: another object of its name is not it.' }),
    controller: field(6, s.boolean(), {
      zero: 'keep',
      doc: 'Whether this owner manages the object; at most one does.',
    }),
    blockOwnerDeletion: field(7, s.boolean(), {
      zero: 'keep',
      doc: 'Whether a foreground deletion of the owner waits until this object is gone.',
    }),
  },
  {
    name: 'meta.v1.OwnerReference',
    doc: 'Names an object that this one belongs to, in the same namespace or without one.',
    atomic: true,
  },
)

const fieldsV1 = s.any({
  name: 'meta.v1.FieldsV1',
  doc: 'A set of fields as a tree: `f:<name>` is a field, `k:<keys>` and `v:<value>` are elements of lists, `.` is the thing itself.',
})

const managedFieldsEntry = s.object(
  {
    manager: field(1, s.string(), { doc: 'The manager of the fields.' }),
    operation: field(2, s.string(), { doc: 'How they were written: Apply or Update.' }),
    apiVersion: field(3, s.string(), { doc: 'The group and version in which they were written.' }),
    time: field(4, s.time(), { doc: 'When this manager last changed its fields.' }),
    fieldsType: field(6, s.string(), { doc: 'The form of the set of fields: FieldsV1.' }),
    fieldsV1: field(7, fieldsV1, { doc: 'The fields that this manager owns.' }),
    subresource: field(8, s.string(), { doc: 'The subresource that was written through, if any.' }),
  },
  {
    name: 'meta.v1.ManagedFieldsEntry',
    doc: 'Which fields of the object one manager owns by one kind of write.',
  },
)

export const objectMeta = s.object(
  {
    name: field(1, s.string(), { doc: 'Unique among the objects of its kind in its namespace. Cannot change.' }),
    generateName: field(2, s.string(), { doc: 'A prefix from which the server generates a name if none is set.' }),
    namespace: field(3, s.string(), { doc: 'The namespace of the object; empty for kinds that have none.' }),
    selfLink: field(4, s.string(), { doc: 'No longer filled in.' }),
    uid: field(5, s.string(), { doc: 'Set by the server; no other object ever has it.' }),
    resourceVersion: field(6, s.string(), {
      doc: 'Changes with every write. Opaque; an update that sends it succeeds only while it is current.',
    }),
    generation: field(7, s.int64(), { doc: 'Counts the changes of the desired state. Set by the server.' }),
    creationTimestamp: field(8, s.time(), { doc: 'When the object was created. Set by the server.' }),
    deletionTimestamp: field(9, s.time(), {
      doc: 'When its deletion was requested, or is due. The object is deleted once it has no finalizers.',
    }),
    deletionGracePeriodSeconds: field(10, s.int64(), {
      zero: 'keep',
      doc: 'How many seconds the object may take to end after its deletion was requested.',
    }),
    labels: field(11, s.map(s.string()), { doc: 'Keys and values that selectors choose objects by.' }),
    annotations: field(12, s.map(s.string()), { doc: 'Keys and values for tools; nothing is selected by them.' }),
    ownerReferences: field(
      13,
      s.list(ownerReference, { list: 'map', keys: ['uid'], patch: 'merge', mergeKey: 'uid' }),
      {
        doc: 'The objects that this one belongs to. When all are gone it is deleted.',
      },
    ),
    finalizers: field(14, s.list(s.string(), { list: 'set', patch: 'merge' }), {
      doc: 'Names of cleanups that must happen before the object is deleted; the responsible controller removes each.',
    }),
    clusterName: field(15, s.string(), { doc: 'Not used.' }),
    managedFields: field(17, s.list(managedFieldsEntry), {
      doc: 'Which manager owns which fields. Kept by the server.',
    }),
  },
  {
    name: 'meta.v1.ObjectMeta',
    doc: 'What every object has beside its own fields: its name, its labels, its history.',
  },
)

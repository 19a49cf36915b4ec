/** Defines the schema of `metadata`, which all objects have. */
import { field, s } from './schema.ts'

const ownerReference = s.object(
  {
    apiVersion: field(5, s.string(), { zeroValue: 'write', doc: 'API group and version of the owner.' }),
    kind: field(1, s.string(), { zeroValue: 'write', doc: 'Kind of the owner.' }),
    name: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the owner.' }),
    uid: field(4, s.string(), {
      zeroValue: 'write',
      doc: 'UID of the owner. A later object with the same name has a different UID.',
    }),
    controller: field(6, s.boolean(), {
      zeroValue: 'keep',
      doc: 'Whether this owner is the managing controller. An object has at most one managing controller.',
    }),
    blockOwnerDeletion: field(7, s.boolean(), {
      zeroValue: 'keep',
      doc: 'Whether the object blocks foreground deletion of the owner.',
    }),
  },
  {
    name: 'meta.v1.OwnerReference',
    doc: "Reference to the object's owner. The owner must be cluster-scoped or in the same namespace.",
    atomic: true,
  },
)

const fieldsV1 = s.any({
  name: 'meta.v1.FieldsV1',
  doc: 'A tree of fields: `f:<name>` is a field, `k:<keys>` and `v:<value>` are list elements, `.` is the node itself.',
})

const managedFieldsEntry = s.object(
  {
    manager: field(1, s.string(), { doc: 'Name of the field manager.' }),
    operation: field(2, s.string(), { doc: 'Operation that created this entry: `Apply` or `Update`.' }),
    apiVersion: field(3, s.string(), { doc: 'API group and version in which the fields were written.' }),
    time: field(4, s.time(), { doc: 'Time when this manager last changed its fields.' }),
    fieldsType: field(6, s.string(), { doc: 'Format of the field set: `FieldsV1`.' }),
    fieldsV1: field(7, fieldsV1, { doc: 'Fields that this manager owns.' }),
    subresource: field(8, s.string(), { doc: 'Subresource through which the fields were written, if any.' }),
  },
  {
    name: 'meta.v1.ManagedFieldsEntry',
    doc: 'Fields of an object that one manager owns through one operation.',
  },
)

export const objectMeta = s.object(
  {
    name: field(1, s.string(), { doc: 'Name of the object, unique within its kind and namespace. Immutable.' }),
    generateName: field(2, s.string(), { doc: 'Prefix from which the server generates a name if `name` is not set.' }),
    namespace: field(3, s.string(), { doc: 'Namespace of the object. Empty for cluster-scoped objects.' }),
    selfLink: field(4, s.string(), { doc: 'Deprecated. The server never sets this field.' }),
    uid: field(5, s.string(), { doc: 'Globally unique ID of the object. Set by the server.' }),
    resourceVersion: field(6, s.string(), {
      doc: 'Opaque version that changes with every write. An update that includes a version succeeds only if the object still has that version.',
    }),
    generation: field(7, s.int64(), {
      doc: 'Sequence number of the desired state, incremented with each change of that state. Set by the server.',
    }),
    creationTimestamp: field(8, s.time(), { doc: 'Time when the object was created. Set by the server.' }),
    deletionTimestamp: field(9, s.time(), {
      doc: 'Time of the deletion request plus the grace period. The object is removed once it has no finalizers.',
    }),
    deletionGracePeriodSeconds: field(10, s.int64(), {
      zeroValue: 'keep',
      doc: 'Grace period of the requested deletion, in seconds.',
    }),
    labels: field(11, s.map(s.string()), {
      doc: 'Key-value pairs for organizing objects. Label selectors match them.',
    }),
    annotations: field(12, s.map(s.string()), {
      doc: 'Key-value pairs with arbitrary data for tools. Selectors cannot match them.',
    }),
    ownerReferences: field(
      13,
      s.list(ownerReference, { list: 'map', keys: ['uid'], patch: 'merge', mergeKey: 'uid' }),
      {
        doc: 'Owners of the object. When all owners are deleted, the garbage collector deletes the object.',
      },
    ),
    finalizers: field(14, s.list(s.string(), { list: 'set', patch: 'merge' }), {
      doc: 'Names of cleanup tasks that must finish before the object is removed. The responsible controllers remove the entries.',
    }),
    clusterName: field(15, s.string(), { until: '1.25', doc: 'Unused.' }),
    managedFields: field(17, s.list(managedFieldsEntry), {
      emptyCounts: true,
      doc: 'Field managers and the fields that they own. Maintained by the server.',
    }),
  },
  {
    name: 'meta.v1.ObjectMeta',
    doc: 'Metadata of an object.',
  },
)

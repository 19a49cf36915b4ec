/** The schema of the metadata that every object carries. */
import { field, s } from './schema.ts'

const ownerReference = s.object(
  {
    apiVersion: field(5, s.string(), { zero: 'write' }),
    kind: field(1, s.string(), { zero: 'write' }),
    name: field(3, s.string(), { zero: 'write' }),
    uid: field(4, s.string(), { zero: 'write' }),
    controller: field(6, s.boolean(), { zero: 'keep' }),
    blockOwnerDeletion: field(7, s.boolean(), { zero: 'keep' }),
  },
  { atomic: true },
)

const managedFieldsEntry = s.object({
  manager: field(1, s.string()),
  operation: field(2, s.string()),
  apiVersion: field(3, s.string()),
  time: field(4, s.time()),
  fieldsType: field(6, s.string()),
  fieldsV1: field(7, s.any()),
  subresource: field(8, s.string()),
})

export const objectMeta = s.object({
  name: field(1, s.string()),
  generateName: field(2, s.string()),
  namespace: field(3, s.string()),
  selfLink: field(4, s.string()),
  uid: field(5, s.string()),
  resourceVersion: field(6, s.string()),
  generation: field(7, s.int64()),
  creationTimestamp: field(8, s.time()),
  deletionTimestamp: field(9, s.time()),
  deletionGracePeriodSeconds: field(10, s.int64(), { zero: 'keep' }),
  labels: field(11, s.map(s.string())),
  annotations: field(12, s.map(s.string())),
  ownerReferences: field(13, s.list(ownerReference, { list: 'map', keys: ['uid'], patch: 'merge', mergeKey: 'uid' })),
  finalizers: field(14, s.list(s.string(), { list: 'set', patch: 'merge' })),
  clusterName: field(15, s.string()),
  managedFields: field(17, s.list(managedFieldsEntry)),
})

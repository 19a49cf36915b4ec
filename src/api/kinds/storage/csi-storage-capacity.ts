/**
 * A CSIStorageCapacity is the available capacity of a storage class in one topology segment. The CSI driver reports it,
 * and the scheduler uses it.
 */
import { type FieldError, invalid } from '../../model/field-error.ts'
import { checkDnsSubdomain } from '../../model/names.ts'
import { parseQuantity, quantitySign } from '../../model/quantity.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { immutableField } from '../immutable.ts'
import { labelSelector } from '../meta/label-selector.ts'

const fields = {
  nodeTopology: field(2, labelSelector, {
    doc: 'Label selector for the nodes that have access to the storage. If unset, no nodes are selected. If empty, all nodes are selected. Immutable.',
  }),
  storageClassName: field(3, s.string(), {
    zeroValue: 'write',
    doc: 'Name of the StorageClass to which the capacity applies. Immutable.',
  }),
  capacity: field(4, s.quantity(), {
    zeroValue: 'keep',
    doc: 'Available capacity. If unset, the capacity is unknown.',
  }),
  maximumVolumeSize: field(5, s.quantity(), {
    zeroValue: 'keep',
    doc: 'Maximum size of a single volume. If unset, the maximum size is unknown.',
  }),
}

export type CSIStorageCapacity = ObjectOf<typeof fields>

export const csiStorageCapacity = defineKind({
  names: {
    group: 'storage',
    version: 'v1beta1',
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    scope: 'Namespaced',
  },
  doc: 'Storage capacity that is available for a StorageClass in one topology segment, as reported by the CSI driver.',
  fields,
  rules: {
    validate: ({ storageClassName: name = '', capacity = '0' }) => [
      ...checkDnsSubdomain(name).map((fault) => invalid('storageClassName', name, fault)),
      ...checkNotNegative(capacity),
    ],
    validateUpdate: (next, previous) => [
      ...immutableField('nodeTopology', next.nodeTopology, previous.nodeTopology),
      ...immutableField('storageClassName', next.storageClassName, previous.storageClassName),
    ],
  },
  lifecycle: {
    needsVersion: true,
  },
  until: '1.27',
  deprecated: { since: '1.24', instead: { group: 'storage', version: 'v1', kind: 'CSIStorageCapacity' } },
})

export const csiStorageCapacityV1 = defineVersion(csiStorageCapacity, { version: 'v1', fields, since: '1.24' })

function checkNotNegative(capacity: string): FieldError[] {
  if (quantitySign(parseQuantity(capacity)!) >= 0) return []
  return [invalid('capacity', capacity, 'must be greater than or equal to 0')]
}

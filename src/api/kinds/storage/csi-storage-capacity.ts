/**
 * CSIStorageCapacity: how much storage of a class is left in one place. A driver writes it, and the scheduler reads it.
 */
import { type FieldError, invalid } from '../../model/field-error.ts'
import { checkDnsSubdomain } from '../../model/names.ts'
import { parseQuantity, quantitySign } from '../../model/quantity.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { immutableField } from '../immutable.ts'
import { labelSelector } from '../meta/label-selector.ts'

const fields = {
  nodeTopology: field(2, labelSelector, {
    doc: 'The nodes that can reach the storage, by labels; none if unset, all if empty. Cannot change.',
  }),
  storageClassName: field(3, s.string(), {
    zero: 'write',
    doc: 'The class whose storage it is about. Cannot change.',
  }),
  capacity: field(4, s.quantity(), { zero: 'keep', doc: 'How much is left; not known if unset.' }),
  maximumVolumeSize: field(5, s.quantity(), { zero: 'keep', doc: 'How large a volume can be at most.' }),
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
  doc: 'How much storage of a class is left in one place, as its driver reports.',
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
  life: {
    needsVersion: true,
  },
})

function checkNotNegative(capacity: string): FieldError[] {
  if (quantitySign(parseQuantity(capacity)!) >= 0) return []
  return [invalid('capacity', capacity, 'must be greater than or equal to 0')]
}

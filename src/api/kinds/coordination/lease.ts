/**
 * Lease: a lock that one holder has for a limited time, such as the leader among several. It is renewed all the time.
 */
import { child, type FieldError, type FieldPath, invalid } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

const specFields = {
  holderIdentity: field(1, s.string(), { zero: 'keep', doc: 'The holder.' }),
  leaseDurationSeconds: field(2, s.int32(), {
    zero: 'keep',
    doc: 'How long others wait after renewTime before they take it.',
  }),
  acquireTime: field(3, s.microTime(), { doc: 'Since when its holder has it.' }),
  renewTime: field(4, s.microTime(), { doc: 'When its holder last renewed it.' }),
  leaseTransitions: field(5, s.int32(), { zero: 'keep', doc: 'How often it went to another holder.' }),
}

const spec = s.object(specFields, {
  name: 'LeaseSpec',
  doc: 'The holder of the lease, and until when it is held.',
  check: checkSpec,
})

const fields = { spec: field(2, spec, { zero: 'write', doc: 'The holder of the lease, and until when it is held.' }) }

export type Lease = ObjectOf<typeof fields>

export const lease = defineKind({
  names: {
    group: 'coordination',
    version: 'v1',
    kind: 'Lease',
    plural: 'leases',
    scope: 'Namespaced',
  },
  doc: 'A lock that one holder has for a limited time, such as the leader among several processes.',
  fields,
  life: {
    createOnUpdate: true,
    needsVersion: true,
    plainFinalizers: true,
  },
  views: {
    columns: [nameColumn, column('Holder', 'The holder.', ({ spec }: Lease) => spec?.holderIdentity ?? ''), ageColumn],
  },
})

function checkSpec(
  { leaseDurationSeconds: seconds = 1, leaseTransitions: transitions = 0 }: InferFields<typeof specFields>,
  path: FieldPath,
): FieldError[] {
  return [
    ...(seconds > 0 ? [] : [invalid(child(path, 'leaseDurationSeconds'), seconds, 'must be greater than 0')]),
    ...(transitions >= 0
      ? []
      : [invalid(child(path, 'leaseTransitions'), transitions, 'must be greater than or equal to 0')]),
  ]
}

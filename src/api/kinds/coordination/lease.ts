/** A Lease is a lock that one holder owns for a limited time and renews regularly, for example for leader election. */
import { child, type FieldError, type FieldPath, forbidden, invalid } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkStrategy } from './strategy.ts'

const specFields = {
  holderIdentity: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'Identity of the current holder. Empty if the lease has no holder.',
  }),
  leaseDurationSeconds: field(2, s.int32(), {
    zeroValue: 'keep',
    doc: 'Duration of the lease in seconds, counted from `renewTime`. Others may acquire the lease after it expires. Must be greater than 0.',
  }),
  acquireTime: field(3, s.microTime(), { doc: 'Time when the current holder acquired the lease.' }),
  renewTime: field(4, s.microTime(), { doc: 'Time when the current holder last renewed the lease.' }),
  leaseTransitions: field(5, s.int32(), {
    zeroValue: 'keep',
    doc: 'Number of times that the lease has changed holders.',
  }),
  strategy: field(6, s.string(), {
    zeroValue: 'keep',
    since: '1.31',
    gate: 'CoordinatedLeaderElection',
    doc: 'Strategy for choosing the leader in coordinated leader election, such as `OldestEmulationVersion`.',
  }),
  preferredHolder: field(7, s.string(), {
    zeroValue: 'keep',
    since: '1.31',
    gate: 'CoordinatedLeaderElection',
    doc: 'Candidate that should hold the lease next. Requires `strategy`.',
  }),
}

const spec = s.object(specFields, {
  name: 'LeaseSpec',
  doc: 'Specification of a Lease.',
  check: checkSpec,
})

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    doc: 'Current holder of the lease, and the duration for which the lease is valid.',
  }),
}

export type Lease = ObjectOf<typeof fields>

export const lease = defineKind({
  names: {
    group: 'coordination',
    version: 'v1',
    kind: 'Lease',
    plural: 'leases',
    scope: 'Namespaced',
  },
  doc: 'A lock that one holder owns for a limited time, for example to elect a leader among several processes.',
  fields,
  lifecycle: {
    createOnUpdate: true,
    needsVersion: true,
    plainFinalizers: true,
  },
  views: {
    columns: [
      nameColumn,
      column('Holder', 'Identity of the current holder.', ({ spec }: Lease) => spec?.holderIdentity ?? ''),
      ageColumn,
    ],
  },
})

function checkSpec(
  { leaseDurationSeconds: seconds = 1, leaseTransitions: transitions = 0, ...spec }: InferFields<typeof specFields>,
  path: FieldPath,
): FieldError[] {
  return [
    ...(spec.strategy === undefined ? [] : checkStrategy(spec.strategy, child(path, 'strategy'))),
    ...(spec.preferredHolder && !spec.strategy
      ? [forbidden(child(path, 'preferredHolder'), 'may only be specified when `strategy` is defined')]
      : []),
    ...(seconds > 0 ? [] : [invalid(child(path, 'leaseDurationSeconds'), seconds, 'must be greater than 0')]),
    ...(transitions >= 0
      ? []
      : [invalid(child(path, 'leaseTransitions'), transitions, 'must be greater than or equal to 0')]),
  ]
}

/** A ResourceClaim is a request for devices. The scheduler allocates devices and reserves them for pods. */
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { immutableField } from '../immutable.ts'
import { specAndStatus, statusAlone } from '../spec-and-status.ts'
import { checkAdminRequests } from './types/admin-access.ts'
import { resourceClaimSpec } from './types/claim-spec.ts'
import { checkClaimStatus, resourceClaimStatus } from './types/claim-status.ts'

export const claimFields = {
  spec: field(2, resourceClaimSpec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Devices that the claim requests. Immutable.',
  }),
  status: field(3, resourceClaimStatus, {
    zeroValue: 'write',
    doc: 'Devices allocated to the claim, and the objects that use them.',
  }),
}

export type ResourceClaim = ObjectOf<typeof claimFields>

export const resourceClaim = defineKind({
  names: {
    group: 'resource',
    version: 'v1',
    kind: 'ResourceClaim',
    plural: 'resourceclaims',
    scope: 'Namespaced',
  },
  since: '1.34',
  doc: 'A request for devices. The scheduler allocates matching devices to it.',
  fields: claimFields,
  rules: specAndStatus<ResourceClaim>({
    newStatus: () => ({}),
    validateCreate: ({ spec }, context) => checkAdminRequests(spec?.devices?.requests, context),
    validateUpdate: (next, previous, context) =>
      context.subresource === 'status'
        ? checkClaimStatus(next, previous, context)
        : immutableField('spec', next.spec, previous.spec),
  }),
  lifecycle: { deleteAnswers: 'object' },
  views: {
    columns: [nameColumn, column('State', 'Current state of the claim.', stateOf), ageColumn],
    subresources: { status: statusAlone },
  },
})

function stateOf({ metadata, status }: ResourceClaim): string {
  const states = [
    ...(metadata.deletionTimestamp === undefined ? [] : ['deleted']),
    ...(status?.allocation === undefined ? [] : ['allocated']),
    ...((status?.reservedFor ?? []).length === 0 ? [] : ['reserved']),
  ]
  return states.join(',') || 'pending'
}

export const resourceClaimV1beta2 = defineVersion(resourceClaim, {
  version: 'v1beta2',
  fields: claimFields,
  since: '1.33',
  optIn: true,
})

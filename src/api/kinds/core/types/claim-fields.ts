/** The fields of a PersistentVolumeClaim and of its status. */
import type { ObjectOf } from '../../../schema/kind.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { byType } from '../../list-keys.ts'
import { accessModes } from './access-modes.ts'
import { persistentVolumeClaimSpec } from './claim-spec.ts'
import { resourceList, roundResources } from './resource-list.ts'

const condition = s.object(
  {
    type: field(1, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Type of the condition, such as Resizing or FileSystemResizePending.',
    }),
    status: field(2, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Status of the condition: True, False or Unknown.',
    }),
    lastProbeTime: field(3, s.time(), { zeroValue: 'write', doc: 'Time when the condition was last probed.' }),
    lastTransitionTime: field(4, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the status of the condition last changed.',
    }),
    reason: field(5, s.string(), { doc: 'Machine-readable reason for the last transition, in CamelCase.' }),
    message: field(6, s.string(), { doc: 'Human-readable message about the last transition.' }),
  },
  { name: 'PersistentVolumeClaimCondition', doc: 'A condition of a PersistentVolumeClaim.' },
)

const conditions = s.list(condition, byType)

const modifyVolumeStatus = s.object(
  {
    targetVolumeAttributesClassName: field(1, s.string(), {
      doc: 'Name of the VolumeAttributesClass to apply to the volume.',
    }),
    status: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'State of the change: `Pending`, `InProgress` or `Infeasible`.',
    }),
  },
  { name: 'ModifyVolumeStatus', doc: "State of a pending change to a claim's VolumeAttributesClass." },
)

const statusFields = {
  phase: field(1, s.string(), {
    default: 'Pending',
    doc: 'Lifecycle phase of the claim: Pending, Bound, or Lost if its volume no longer exists. Defaults to Pending.',
  }),
  accessModes: field(2, accessModes, { doc: 'Access modes of the bound volume.' }),
  capacity: field(3, resourceList, { doc: 'Actual capacity of the bound volume.' }),
  conditions: field(4, conditions, {
    doc: 'Conditions of the claim, such as Resizing while its volume is being resized.',
  }),
  allocatedResources: field(5, resourceList, {
    doc: 'Amount of storage allocated to the claim, which may exceed its capacity during a resize. Requires the RecoverVolumeExpansionFailure feature gate.',
  }),
  resizeStatus: field(6, s.string(), {
    zeroValue: 'keep',
    until: '1.28',
    doc: 'State of a resize operation. Requires the RecoverVolumeExpansionFailure feature gate.',
  }),
  allocatedResourceStatuses: field(7, s.map(s.string()), {
    since: '1.28',
    gate: 'RecoverVolumeExpansionFailure',
    doc: 'State of the resize operation for each resource.',
  }),
  currentVolumeAttributesClassName: field(8, s.string(), {
    zeroValue: 'keep',
    since: '1.29',
    gate: 'VolumeAttributesClass',
    doc: 'Name of the VolumeAttributesClass that the volume currently has.',
  }),
  modifyVolumeStatus: field(9, modifyVolumeStatus, {
    since: '1.29',
    gate: 'VolumeAttributesClass',
    doc: 'State of a change to the VolumeAttributesClass. Unset if no change is in progress.',
  }),
}

export type ClaimStatus = InferFields<typeof statusFields>

const status = s.object(statusFields, {
  name: 'PersistentVolumeClaimStatus',
  doc: 'Observed status of a PersistentVolumeClaim.',
  fill: ({ capacity, allocatedResources }) => {
    roundResources(capacity)
    roundResources(allocatedResources)
  },
})

export const claimFields = {
  spec: field(2, persistentVolumeClaimSpec, { zeroValue: 'write', doc: 'Storage that the claim requests.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the claim, set by the volume controller.' }),
}

export type PersistentVolumeClaim = ObjectOf<typeof claimFields>

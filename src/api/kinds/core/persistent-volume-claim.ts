/**
 * PersistentVolumeClaim: a request for storage. A claim binds to one volume. A bound claim may request more storage.
 * The rest of its spec is immutable.
 */

import { sameJson } from '../../json/json.ts'
import { at, type FieldError, forbidden, invalid, maxFaults, notSupported } from '../../model/field-error.ts'
import { compareQuantities } from '../../model/quantity.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { immutableField } from '../immutable.ts'
import { byType } from '../list-keys.ts'
import { keep, plainStatus, specAndStatus } from '../spec-and-status.ts'
import { abbreviateModes, accessModes } from './types/access-modes.ts'
import { type PersistentVolumeClaimSpec, persistentVolumeClaimSpec } from './types/claim-spec.ts'
import { agreeOnDataSources } from './types/data-sources.ts'
import { type ResourceList, resourceList, roundResources } from './types/resource-list.ts'
import { isStorageSize, quantityOf } from './types/resource-names.ts'
import { quantityIn } from './types/resources.ts'

const condition = s.object(
  {
    type: field(1, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Type of the condition: Resizing or FileSystemResizePending.',
    }),
    status: field(2, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Status of the condition: True, False or Unknown.',
    }),
    lastProbeTime: field(3, s.time(), { zeroValue: 'write', doc: 'Time the condition was last probed.' }),
    lastTransitionTime: field(4, s.time(), {
      zeroValue: 'write',
      doc: 'Time the status of the condition last changed.',
    }),
    reason: field(5, s.string(), { doc: 'Machine-readable reason for the last transition, in CamelCase.' }),
    message: field(6, s.string(), { doc: 'Human-readable message about the last transition.' }),
  },
  { name: 'PersistentVolumeClaimCondition', doc: 'A condition of a PersistentVolumeClaim.' },
)

const conditions = s.list(condition, byType)

const modifyVolumeStatus = s.object(
  {
    targetVolumeAttributesClassName: field(1, s.string(), { doc: 'Name of the VolumeAttributesClass to apply.' }),
    status: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'Progress of the change: Pending, InProgress or Infeasible.',
    }),
  },
  { name: 'ModifyVolumeStatus', doc: "Progress of a change to a claim's VolumeAttributesClass." },
)

const statusFields = {
  phase: field(1, s.string(), {
    default: 'Pending',
    doc: 'Lifecycle phase of the claim: Pending, Bound, or Lost if its volume no longer exists. Defaults to Pending.',
  }),
  accessModes: field(2, accessModes, { doc: 'Access modes of the bound volume.' }),
  capacity: field(3, resourceList, { doc: 'Actual capacity of the bound volume.' }),
  conditions: field(4, conditions, { doc: 'Conditions of the claim, such as a resize in progress.' }),
  allocatedResources: field(5, resourceList, {
    doc: 'Storage allocated to the claim during a resize. Requires the RecoverVolumeExpansionFailure feature gate.',
  }),
  resizeStatus: field(6, s.string(), {
    zeroValue: 'keep',
    until: '1.28',
    doc: 'Progress of a resize operation. Requires the RecoverVolumeExpansionFailure feature gate.',
  }),
  allocatedResourceStatuses: field(7, s.map(s.string()), {
    since: '1.28',
    gate: 'RecoverVolumeExpansionFailure',
    doc: 'Progress of the resize of each resource.',
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
    doc: 'Progress of a change to the VolumeAttributesClass. Unset if none is in progress.',
  }),
}

type ClaimStatus = InferFields<typeof statusFields>

const status = s.object(statusFields, {
  name: 'PersistentVolumeClaimStatus',
  doc: 'Observed status of a PersistentVolumeClaim.',
  fill: ({ capacity, allocatedResources }) => {
    roundResources(capacity)
    roundResources(allocatedResources)
  },
})

const fields = {
  spec: field(2, persistentVolumeClaimSpec, { zeroValue: 'write', doc: 'Requested storage.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the claim, set by the volume controller.' }),
}

export type PersistentVolumeClaim = ObjectOf<typeof fields>

const columns: readonly Column<PersistentVolumeClaim>[] = [
  nameColumn,
  column('Status', 'Lifecycle phase of the claim.', ({ metadata, status }) =>
    metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
  ),
  column('Volume', 'Name of the bound volume.', ({ spec }) => spec?.volumeName ?? ''),
  column('Capacity', 'Capacity of the bound volume.', (claim) =>
    hasVolumeName(claim) ? (claim.status?.capacity?.storage ?? '0') : '',
  ),
  column('Access Modes', 'Access modes of the bound volume.', (claim) =>
    hasVolumeName(claim) ? abbreviateModes(claim.status?.accessModes) : '',
  ),
  column('StorageClass', 'StorageClass of the claim.', (claim, _, vendor) => classOf(claim, vendor)),
  ageColumn,
  column('VolumeMode', 'Volume mode: Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? '<unset>', 1),
]

export const persistentVolumeClaim = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    shortNames: ['pvc'],
    scope: 'Namespaced',
  },
  doc: 'A request for storage, which binds to a PersistentVolume.',
  fields,
  rules: specAndStatus<PersistentVolumeClaim>({
    newStatus: () => ({ phase: 'Pending' }),
    prepareForCreate: ({ spec = {} }, context) => agreeOnDataSources(spec, undefined, context),
    prepareForUpdate: ({ spec = {} }, previous, context) => agreeOnDataSources(spec, previous.spec, context),
    validateUpdate: (next, previous, context) =>
      context.subresource === 'status'
        ? checkStatus(next.status ?? {}, context)
        : [...checkClass(next, previous, context.vendor), ...checkSpecUpdate(next, previous, context)],
  }),
  lifecycle: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
    subresources: { status: { ...plainStatus, prepareForUpdate: keepAllButStatus } },
  },
})

function hasVolumeName({ spec }: PersistentVolumeClaim): boolean {
  return !!spec?.volumeName
}

function classKey(vendor: Vendor): string {
  return vendorKey(vendor, 'storage-class', 'volume.beta')
}

/** The annotation predates the field and takes precedence. */
function classOf({ metadata, spec }: PersistentVolumeClaim, vendor: Vendor): string {
  return metadata.annotations?.[classKey(vendor)] ?? spec?.storageClassName ?? ''
}

/** Drops fields behind a disabled feature gate, unless the stored object already has them. */
function keepAllButStatus(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, context: RuleContext): void {
  keep(next, previous, 'spec')
  if (next.status === undefined || mayRecover(context)) return
  if (previous.status?.allocatedResources === undefined) delete next.status.allocatedResources
  if (previous.status?.resizeStatus === undefined) delete next.status.resizeStatus
}

function mayRecover({ gates }: RuleContext): boolean {
  return gates?.has('RecoverVolumeExpansionFailure') ?? false
}

/** The class may move from the old annotation to the field. Any other change of the annotation is rejected. */
function checkClass(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, vendor: Vendor): FieldError[] {
  if (movesClass(next, previous, vendor)) return []
  const key = classKey(vendor)
  const after = next.metadata.annotations?.[key] ?? ''
  const before = previous.metadata.annotations?.[key] ?? ''
  return immutableField(`metadata.annotations.${key}`, after, before)
}

function movesClass(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, vendor: Vendor): boolean {
  const key = classKey(vendor)
  const before = previous.metadata.annotations?.[key]
  const after = next.metadata.annotations?.[key] ?? before
  const moved = previous.spec?.storageClassName === undefined && next.spec?.storageClassName === before
  return before !== undefined && moved && after === before
}

function checkSpecUpdate(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  context: RuleContext,
): FieldError[] {
  const { spec: after = {} } = next
  const { spec: before = {} } = previous
  const same = sameJson(unchanging(next, previous, context.vendor), before)
  const text = 'spec is immutable after creation except resources.requests for bound claims'
  return [
    ...(same ? [] : [forbidden('spec', text)]),
    ...checkSize(next, previous, context),
    ...immutableField('spec.volumeMode', after.volumeMode, before.volumeMode),
  ]
}

/** Returns the new spec with the previous values of the fields that may change. */
function unchanging(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  vendor: Vendor,
): PersistentVolumeClaimSpec {
  const { spec = {}, status } = next
  const { spec: before = {} } = previous
  const copy = { ...spec }
  if (!before.volumeName) delete copy.volumeName
  if (movesClass(next, previous, vendor)) delete copy.storageClassName
  const storage = before.resources?.requests?.storage
  if (status?.phase === 'Bound' && spec.resources?.requests && storage !== undefined)
    copy.resources = { ...spec.resources, requests: { ...spec.resources.requests, storage } }
  return copy
}

/**
 * Rejects a smaller size. With RecoverVolumeExpansionFailure, a claim may shrink its request to a size above its
 * capacity.
 */
function checkSize(
  { spec }: PersistentVolumeClaim,
  { spec: before, status }: PersistentVolumeClaim,
  context: RuleContext,
): FieldError[] {
  const wanted = storageIn(spec?.resources?.requests)
  if (compareQuantities(wanted, storageIn(before?.resources?.requests)) >= 0) return []
  const path = 'spec.resources.requests.storage'
  if (!mayRecover(context)) return [forbidden(path, 'field can not be less than previous value')]
  const held = compareQuantities(wanted, storageIn(status?.capacity)) > 0
  return held ? [] : [forbidden(path, 'field can not be less than status.capacity')]
}

function storageIn(list: ResourceList | undefined) {
  return quantityIn(list, 'storage') ?? quantityOf('0')
}

const resizeStates = [
  '',
  'ControllerExpansionFailed',
  'ControllerExpansionInProgress',
  'NodeExpansionFailed',
  'NodeExpansionInProgress',
  'NodeExpansionPending',
]

function checkStatus({ capacity, resizeStatus, allocatedResources = {} }: ClaimStatus, context: RuleContext) {
  const sizes = checkSizes(capacity, 'status.capacity')
  if (!mayRecover(context)) return sizes
  const { storage, ...others } = allocatedResources
  const path = 'status.allocatedResources'
  return [
    ...sizes,
    ...(resizeStatus === undefined || resizeStates.includes(resizeStatus)
      ? []
      : [notSupported('status.resizeStatus', resizeStatus, resizeStates)]),
    ...Object.keys(others)
      .slice(0, maxFaults)
      .map((name) => notSupported(path, name, ['storage'])),
    ...checkSizes(storage === undefined ? {} : { storage }, path),
  ]
}

function checkSizes(list: ResourceList = {}, path: string): FieldError[] {
  return Object.entries(list)
    .filter(([, amount]) => !isStorageSize(amount))
    .slice(0, maxFaults)
    .map(([name, amount]) => invalid(at(path, name), amount, 'must be a valid resource quantity'))
}

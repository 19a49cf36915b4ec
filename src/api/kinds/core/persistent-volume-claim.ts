/**
 * PersistentVolumeClaim: the storage that somebody asks for. It is bound to a volume once, and from then on it may ask
 * for more; nothing else of what it asks for changes.
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
    type: field(1, s.string(), { zero: 'write', published: 'required', doc: 'Resizing or FileSystemResizePending.' }),
    status: field(2, s.string(), { zero: 'write', published: 'required', doc: 'True, False or Unknown.' }),
    lastProbeTime: field(3, s.time(), { zero: 'write', doc: 'When it was last looked at.' }),
    lastTransitionTime: field(4, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason: field(5, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(6, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'PersistentVolumeClaimCondition', doc: 'Something that is known of the state of a claim.' },
)

const conditions = s.list(condition, byType)

const statusFields = {
  phase: field(1, s.string(), { default: 'Pending', doc: 'Pending, Bound, or Lost with its volume.' }),
  accessModes: field(2, accessModes, { doc: 'How the volume may be mounted.' }),
  capacity: field(3, resourceList, { doc: 'How much the volume holds.' }),
  conditions: field(4, conditions, { doc: 'What else is known of it.' }),
  allocatedResources: field(5, resourceList, {
    doc: 'How much is being made ready for it. Needs RecoverVolumeExpansionFailure.',
  }),
  resizeStatus: field(6, s.string(), {
    zero: 'keep',
    doc: 'How far a growth has come. Needs RecoverVolumeExpansionFailure.',
  }),
}

type ClaimStatus = InferFields<typeof statusFields>

const status = s.object(statusFields, {
  name: 'PersistentVolumeClaimStatus',
  doc: 'What a claim has got.',
  fill: ({ capacity, allocatedResources }) => {
    roundResources(capacity)
    roundResources(allocatedResources)
  },
})

const fields = {
  spec: field(2, persistentVolumeClaimSpec, { zero: 'write', doc: 'What is asked for.' }),
  status: field(3, status, { zero: 'write', doc: 'What it has got. Set by the server.' }),
}

export type PersistentVolumeClaim = ObjectOf<typeof fields>

const columns: readonly Column<PersistentVolumeClaim>[] = [
  nameColumn,
  column('Status', 'Whether it has got a volume.', ({ metadata, status }) =>
    metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
  ),
  column('Volume', 'The volume that is bound to it.', ({ spec }) => spec?.volumeName ?? ''),
  column('Capacity', 'How much the volume holds.', (claim) =>
    isNamed(claim) ? (claim.status?.capacity?.storage ?? '0') : '',
  ),
  column('Access Modes', 'How the volume may be mounted.', (claim) =>
    isNamed(claim) ? abbreviateModes(claim.status?.accessModes) : '',
  ),
  column('StorageClass', 'The class of the volume.', (claim, _, vendor) => classOf(claim, vendor)),
  ageColumn,
  column('VolumeMode', 'A file system or a raw device.', ({ spec }) => spec?.volumeMode ?? '<unset>', 1),
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
  doc: 'A request for storage.',
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
  life: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
    subresources: { status: { ...plainStatus, prepareForUpdate: keepAllButStatus } },
  },
})

function isNamed({ spec }: PersistentVolumeClaim): boolean {
  return !!spec?.volumeName
}

function classKey(vendor: Vendor): string {
  return vendorKey(vendor, 'storage-class', 'volume.beta')
}

/** The annotation is from before there was the field, and goes before it. */
function classOf({ metadata, spec }: PersistentVolumeClaim, vendor: Vendor): string {
  return metadata.annotations?.[classKey(vendor)] ?? spec?.storageClassName ?? ''
}

/** What is behind a gate is dropped, unless it is there from a time when the gate was open. */
function keepAllButStatus(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, context: RuleContext): void {
  keep(next, previous, 'spec')
  if (next.status === undefined || mayRecover(context)) return
  if (previous.status?.allocatedResources === undefined) delete next.status.allocatedResources
  if (previous.status?.resizeStatus === undefined) delete next.status.resizeStatus
}

function mayRecover({ gates }: RuleContext): boolean {
  return gates?.has('RecoverVolumeExpansionFailure') ?? false
}

/** The class may move from the old annotation to the field; else the annotation never changes. */
function checkClass(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, vendor: Vendor): FieldError[] {
  if (movesClass(next, previous, vendor)) return []
  const key = classKey(vendor)
  const [after = '', before = ''] = [next.metadata.annotations?.[key], previous.metadata.annotations?.[key]]
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

/** What is asked for now, but with those parts as they were that may change. */
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

/** A claim never shrinks; one whose growth failed may ask for less again, but for more than it has. */
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

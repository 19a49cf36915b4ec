/**
 * A PersistentVolume is a piece of storage whose lifecycle does not depend on a pod. A claim binds to the volume
 * through `claimRef`. The volume source and the node affinity are immutable once set.
 */
import { posix } from 'node:path'
import { defined, type Json, sameJson } from '../../json/json.ts'
import { at, child, type FieldError, forbidden, invalid, notSupported, required } from '../../model/field-error.ts'
import { timestamp } from '../../model/object.ts'
import { parseQuantity, quantitySign } from '../../model/quantity.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, isEnabled, type PrepareContext, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { immutableField } from '../immutable.ts'
import { keep, plainStatus, specAndStatus } from '../spec-and-status.ts'
import { abbreviateModes } from './types/access-modes.ts'
import { oldLabels } from './types/old-labels.ts'
import { type PersistentVolumeSpec, persistentVolumeSpec, sourceNames } from './types/persistent-volume-spec.ts'
import { persistentVolumeWarnings } from './types/persistent-volume-warnings.ts'
import type { ResourceList } from './types/resource-list.ts'
import { isStorageSize } from './types/resource-names.ts'
import { fitsInterface } from './types/volumes/block-devices.ts'

const status = s.object(
  {
    phase: field(1, s.string(), {
      default: 'Pending',
      doc: 'Lifecycle phase of the volume: Pending, Available, Bound, Released or Failed. Defaults to Pending.',
    }),
    message: field(2, s.string(), { doc: "Human-readable message about the volume's phase." }),
    reason: field(3, s.string(), { doc: 'Machine-readable reason for a failure, in CamelCase.' }),
    lastPhaseTransitionTime: field(4, s.time(), {
      since: '1.28',
      gate: 'PersistentVolumeLastPhaseTransitionTime',
      doc: 'Time when the phase last changed.',
    }),
  },
  { name: 'PersistentVolumeStatus', doc: 'Observed status of a PersistentVolume.' },
)

const fields = {
  spec: field(2, persistentVolumeSpec, { zeroValue: 'write', doc: 'Properties and source of the volume.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the volume, set by the volume controller.' }),
}

export type PersistentVolume = ObjectOf<typeof fields>

const columns: readonly Column<PersistentVolume>[] = [
  nameColumn,
  column('Capacity', 'Storage capacity of the volume.', ({ spec }) => spec?.capacity?.storage ?? '0'),
  column('Access Modes', 'Access modes that the volume supports.', ({ spec }) => abbreviateModes(spec?.accessModes)),
  column(
    'Reclaim Policy',
    'What happens to the volume after its claim is deleted.',
    ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
  ),
  column('Status', 'Lifecycle phase of the volume.', phaseOf),
  column('Claim', 'Namespace and name of the claim that the volume is bound to.', ({ spec }) => claimOf(spec ?? {})),
  column('StorageClass', 'StorageClass of the volume.', (object, _, vendor) => classOf(object, vendor)),
  {
    ...column(
      'VolumeAttributesClass',
      'VolumeAttributesClass of the volume.',
      ({ spec }: PersistentVolume) => spec?.volumeAttributesClassName ?? '<unset>',
    ),
    since: '1.29',
  },
  column('Reason', 'Machine-readable reason for a failure.', ({ status }) => status?.reason ?? ''),
  ageColumn,
  column('VolumeMode', 'Volume mode: Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? '<unset>', 1),
]

export const persistentVolume = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    shortNames: ['pv'],
    scope: 'Cluster',
  },
  doc: 'A piece of storage in the cluster whose lifecycle is independent of any pod. Pods use it through a PersistentVolumeClaim.',
  fields,
  rules: specAndStatus<PersistentVolume>({
    fillDefaults: ({ spec }) => {
      if (spec === undefined) return
      spec.persistentVolumeReclaimPolicy ??= 'Retain'
      spec.volumeMode ??= 'Filesystem'
    },
    newStatus: (_, context) => ({
      phase: 'Pending',
      ...(recordsTransitions(context) && { lastPhaseTransitionTime: currentTime(context) }),
    }),
    validate: (object, { vendor }) => [
      ...checkCapacity(object.spec?.capacity),
      ...checkRecycling(object.spec ?? {}),
      ...checkPortal(object),
      ...checkMountAnnotation(object, vendor),
    ],
    validateUpdate: ({ spec: next = {} }, { spec: previous = {} }, context) => [
      ...checkSameSource(next, previous),
      ...immutableField('spec.volumeMode', next.volumeMode, previous.volumeMode),
      ...(previous.nodeAffinity && !isEnabled('MutablePVNodeAffinity', context)
        ? checkSameNodes(next, previous, context)
        : []),
      ...(previous.volumeAttributesClassName !== undefined && next.volumeAttributesClassName === undefined
        ? [forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
        : []),
    ],
    warnings: (object, _, context) =>
      isAtLeast(emulationOf(context).version, '1.26') ? persistentVolumeWarnings(object, context.vendor) : [],
  }),
  lifecycle: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
    subresources: {
      status: { ...plainStatus, prepareForUpdate: keepSpecAndRecordTransition },
    },
  },
})

function recordsTransitions(context: RuleContext): boolean {
  return emulationOf(context).gates.has('PersistentVolumeLastPhaseTransitionTime')
}

function currentTime({ now }: PrepareContext): string {
  return timestamp(now)
}

/** Sets the transition time when the phase changes, unless the client has set the time. */
function keepSpecAndRecordTransition(
  next: PersistentVolume,
  previous: PersistentVolume,
  context: PrepareContext,
): void {
  keep(next, previous, 'spec')
  if (!recordsTransitions(context)) return
  next.status ??= {}
  const { status } = next
  const { phase, lastPhaseTransitionTime: before } = previous.status ?? {}
  if (status.phase !== phase) {
    if (status.lastPhaseTransitionTime === undefined || status.lastPhaseTransitionTime === before)
      status.lastPhaseTransitionTime = currentTime(context)
  } else if (status.lastPhaseTransitionTime === undefined && before !== undefined)
    status.lastPhaseTransitionTime = before
}

function phaseOf({ metadata, status }: PersistentVolume): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
}

function claimOf({ claimRef }: PersistentVolumeSpec): string {
  return claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : ''
}

/** Returns the storage class of a volume. The beta annotation is older than the field and takes precedence. */
function classOf({ metadata, spec }: PersistentVolume, vendor: Vendor): string {
  return metadata.annotations?.[vendorKey(vendor, 'storage-class', 'volume.beta')] ?? spec?.storageClassName ?? ''
}

/** Requires a storage capacity, and rejects other resources. */
function checkCapacity(capacity: ResourceList = {}): FieldError[] {
  const path = 'spec.capacity'
  const names = Object.keys(capacity)
  return [
    ...(names.length === 0 ? [required(path)] : []),
    ...(names.length === 1 && names[0] === 'storage' ? [] : [notSupported(path, names, ['storage'])]),
    ...Object.entries(capacity)
      .filter(([, amount]) => quantitySign(parseQuantity(amount)!) <= 0 || !isStorageSize(amount))
      .map(([name, amount]) => invalid(at(path, name), amount, 'must be a positive number that fits in 64 bits')),
  ]
}

/** Rejects the reclaim policy Recycle for the host path `/`, because recycling deletes everything under the path. */
function checkRecycling({ hostPath, persistentVolumeReclaimPolicy: policy }: PersistentVolumeSpec): FieldError[] {
  if (policy !== 'Recycle' || !hostPath?.path || posix.normalize(hostPath.path) !== '/') return []
  return [forbidden('spec.persistentVolumeReclaimPolicy', "may not be 'Recycle' for a hostPath of '/'")]
}

function checkPortal({ metadata, spec }: PersistentVolume): FieldError[] {
  const { iscsi = {} } = spec ?? {}
  if (fitsInterface(metadata.name ?? '', iscsi)) return []
  return [invalid('spec.iscsi.targetportal', iscsi.targetPortal, 'is too long when combined with the volume name')]
}

/** The volume sources that support the mount options annotation, which is older than the field `mountOptions`. */
const mountedWithOptions = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const

function checkMountAnnotation({ metadata, spec = {} }: PersistentVolume, vendor: Vendor): FieldError[] {
  const key = vendorKey(vendor, 'mount-options', 'volume.beta')
  const unused = metadata.annotations?.[key] === undefined || mountedWithOptions.some((name) => spec[name])
  return unused
    ? []
    : [forbidden(child('metadata.annotations', key), 'this volume type does not support mount options')]
}

/**
 * Rejects a change to the volume source. Only the secret for volume expansion may be added later, because early CSI
 * drivers did not support expansion.
 */
function checkSameSource(next: PersistentVolumeSpec, previous: PersistentVolumeSpec): FieldError[] {
  const { controllerExpandSecretRef: added, ...csi } = next.csi ?? {}
  const grown = added && previous.csi && !previous.csi.controllerExpandSecretRef
  const same = sameJson(sourceOf(grown ? { ...next, csi } : next), sourceOf(previous))
  return same ? [] : [forbidden('spec', 'the volume source may not change after creation')]
}

/** Rejects a change to the node affinity. Since 1.25, a deprecated node label may be replaced with its successor. */
function checkSameNodes(
  { nodeAffinity: next }: PersistentVolumeSpec,
  { nodeAffinity: previous }: PersistentVolumeSpec,
  context: RuleContext,
): FieldError[] {
  const path = 'spec.nodeAffinity'
  if (!isAtLeast(emulationOf(context).version, '1.25')) return immutableField(path, next, previous)
  const labels = oldLabels(context.vendor)
  const termsBefore = previous?.required?.nodeSelectorTerms ?? []
  const terms = next?.required?.nodeSelectorTerms?.map((term, i) => ({
    ...term,
    matchExpressions: term.matchExpressions?.map((expression, j) => {
      const before = termsBefore[i]?.matchExpressions?.[j]?.key ?? ''
      return labels.get(before) === expression.key ? { ...expression, key: before } : expression
    }),
  }))
  const undone = next?.required && { ...next, required: defined({ ...next.required, nodeSelectorTerms: terms }) }
  return sameJson(undone, previous)
    ? []
    : [invalid(path, next, 'field is immutable, except that a deprecated label can be replaced')]
}

function sourceOf(spec: PersistentVolumeSpec): Json {
  return Object.fromEntries(sourceNames.map((name) => [name, spec[name]])) as Json
}

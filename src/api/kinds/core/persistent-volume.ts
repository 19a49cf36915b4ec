/**
 * PersistentVolume: a piece of storage in the cluster, whose life is its own. A claim binds to it through `claimRef`.
 * Where its data is, and on which nodes, does not change once it is said.
 */
import { posix } from 'node:path'
import { type Json, sameJson } from '../../json/json.ts'
import { at, child, type FieldError, forbidden, invalid, notSupported, required } from '../../model/field-error.ts'
import { parseQuantity, quantitySign } from '../../model/quantity.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { immutableField } from '../immutable.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { abbreviateModes } from './types/access-modes.ts'
import { type PersistentVolumeSpec, persistentVolumeSpec, sourceNames } from './types/persistent-volume-spec.ts'
import type { ResourceList } from './types/resource-list.ts'
import { isStorageSize } from './types/resource-names.ts'
import { fitsInterface } from './types/volumes/block-devices.ts'

const status = s.object(
  {
    phase: field(1, s.string(), { default: 'Pending', doc: 'Pending, Available, Bound, Released or Failed.' }),
    message: field(2, s.string(), { doc: 'Why it is so, for people.' }),
    reason: field(3, s.string(), { doc: 'Why it failed, in one word for programs.' }),
  },
  { name: 'PersistentVolumeStatus', doc: 'Where a volume is in its life.' },
)

const fields = {
  spec: field(2, persistentVolumeSpec, { zero: 'write', doc: 'What it offers and where it is.' }),
  status: field(3, status, { zero: 'write', doc: 'Where it is in its life. Set by the server.' }),
}

export type PersistentVolume = ObjectOf<typeof fields>

const columns: readonly Column<PersistentVolume>[] = [
  nameColumn,
  column('Capacity', 'How much it holds.', ({ spec }) => spec?.capacity?.storage ?? '0'),
  column('Access Modes', 'How it may be mounted.', ({ spec }) => abbreviateModes(spec?.accessModes)),
  column(
    'Reclaim Policy',
    'What becomes of it when its claim is gone.',
    ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
  ),
  column('Status', 'Whether it is free, bound to a claim, or released.', phaseOf),
  column('Claim', 'The claim that it is bound to.', ({ spec }) => claimOf(spec ?? {})),
  column('StorageClass', 'The class that it belongs to.', (object, _, vendor) => classOf(object, vendor)),
  column('Reason', 'Why it failed, in a word.', ({ status }) => status?.reason ?? ''),
  ageColumn,
  column('VolumeMode', 'A file system or a raw device.', ({ spec }) => spec?.volumeMode ?? '<unset>', 1),
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
  doc: 'A piece of storage in the cluster that exists independently of pods; a claim binds to it.',
  fields,
  rules: specAndStatus<PersistentVolume>({
    fillDefaults: ({ spec }) => {
      if (spec === undefined) return
      spec.persistentVolumeReclaimPolicy ??= 'Retain'
      spec.volumeMode ??= 'Filesystem'
    },
    newStatus: () => ({ phase: 'Pending' }),
    validate: (object, { vendor }) => [
      ...checkCapacity(object.spec?.capacity),
      ...checkRecycling(object.spec ?? {}),
      ...checkPortal(object),
      ...checkMountAnnotation(object, vendor),
    ],
    validateUpdate: ({ spec: next = {} }, { spec: previous = {} }) => [
      ...checkSameSource(next, previous),
      ...immutableField('spec.volumeMode', next.volumeMode, previous.volumeMode),
      ...(previous.nodeAffinity ? immutableField('spec.nodeAffinity', next.nodeAffinity, previous.nodeAffinity) : []),
    ],
  }),
  life: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
    subresources: {
      status: plainStatus,
    },
  },
})

function phaseOf({ metadata, status }: PersistentVolume): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
}

function claimOf({ claimRef }: PersistentVolumeSpec): string {
  return claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : ''
}

/** The annotation is from before there was the field, and goes before it. */
function classOf({ metadata, spec }: PersistentVolume, vendor: Vendor): string {
  return metadata.annotations?.[vendorKey(vendor, 'storage-class', 'volume.beta')] ?? spec?.storageClassName ?? ''
}

/** How much it stores, and nothing else. */
function checkCapacity(capacity: ResourceList = {}): FieldError[] {
  const path = 'spec.capacity'
  const names = Object.keys(capacity)
  return [
    ...(names.length === 0 ? [required(path)] : []),
    ...(names.length === 1 && names[0] === 'storage' ? [] : [notSupported(path, names, ['storage'])]),
    ...Object.entries(capacity)
      .filter(([, amount]) => quantitySign(parseQuantity(amount)!) <= 0 || !isStorageSize(amount))
      .map(([name, amount]) => invalid(at(path, name), amount, 'must be greater than zero, and fit 64 bits')),
  ]
}

/** Recycling deletes all that is below the path. */
function checkRecycling({ hostPath, persistentVolumeReclaimPolicy: policy }: PersistentVolumeSpec): FieldError[] {
  if (policy !== 'Recycle' || !hostPath?.path || posix.normalize(hostPath.path) !== '/') return []
  return [forbidden('spec.persistentVolumeReclaimPolicy', "may not be 'Recycle' for a hostPath of '/'")]
}

function checkPortal({ metadata, spec }: PersistentVolume): FieldError[] {
  const { iscsi = {} } = spec ?? {}
  if (fitsInterface(metadata.name ?? '', iscsi)) return []
  return [invalid('spec.iscsi.targetportal', iscsi.targetPortal, 'is too long together with the name of the volume')]
}

/** Sources whose mounts have always taken options, from before there was `mountOptions`. */
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
  return unused ? [] : [forbidden(child('metadata.annotations', key), 'this volume type takes no mount options')]
}

/** Only the secret for growing a volume may come later, once: drivers learnt to grow after volumes were made. */
function checkSameSource(next: PersistentVolumeSpec, previous: PersistentVolumeSpec): FieldError[] {
  const { controllerExpandSecretRef: added, ...csi } = next.csi ?? {}
  const grown = added && previous.csi && !previous.csi.controllerExpandSecretRef
  const same = sameJson(sourceOf(grown ? { ...next, csi } : next), sourceOf(previous))
  return same ? [] : [forbidden('spec', 'the source of a volume may not change after creation')]
}

function sourceOf(spec: PersistentVolumeSpec): Json {
  return Object.fromEntries(sourceNames.map((name) => [name, spec[name]])) as Json
}

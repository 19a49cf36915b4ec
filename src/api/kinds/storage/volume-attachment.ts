/**
 * A VolumeAttachment is a request to attach a volume to a node. The spec is immutable, and the attacher reports the
 * outcome in `status`.
 */

import { keysOf } from '../../json/json.ts'
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
} from '../../model/field-error.ts'
import { checkDnsSubdomain } from '../../model/names.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { inlineVolumeSpec, type PersistentVolumeSpec } from '../core/types/persistent-volume-spec.ts'
import { checkDriverName } from '../core/types/volumes/storage-systems.ts'
import { immutableField } from '../immutable.ts'
import { specAndStatus, statusAlone } from '../spec-and-status.ts'

const maxMessageLength = 1024
const maxMetadataBytes = 256 * 1024

const sourceFields = {
  persistentVolumeName: field(1, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the PersistentVolume. Mutually exclusive with `inlineVolumeSpec`.',
  }),
  inlineVolumeSpec: field(2, inlineVolumeSpec, {
    doc: "Specification of a pod's inline volume, in the form of a PersistentVolume. Used for volumes that are migrated to a CSI driver.",
  }),
}

const source = s.object(sourceFields, {
  name: 'VolumeAttachmentSource',
  doc: 'Volume to attach: either a PersistentVolume or an inline volume.',
  fieldsToSkip: ({ persistentVolumeName }) => (persistentVolumeName === undefined ? [] : ['inlineVolumeSpec']),
  check: checkSource,
})

type Source = InferFields<typeof sourceFields>

const spec = s.object(
  {
    attacher: field(1, s.string(), {
      required: true,
      zeroValue: 'write',
      doc: 'Name of the driver that attaches the volume.',
    }),
    source: field(2, source, { zeroValue: 'write', published: 'required', doc: 'Volume to attach.' }),
    nodeName: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the node to which to attach the volume.' }),
  },
  {
    name: 'VolumeAttachmentSpec',
    doc: 'Specification of a VolumeAttachment: the volume and the node to which to attach it. Immutable.',
    check: ({ nodeName = '' }, path) =>
      checkDnsSubdomain(nodeName).map((fault) => invalid(child(path, 'nodeName'), nodeName, fault)),
  },
)

const volumeError = s.object(
  {
    time: field(1, s.time(), { zeroValue: 'write', published: 'optional', doc: 'Time of the error.' }),
    message: field(2, s.string(), {
      doc: 'Human-readable error message. At most 1024 bytes. Must not contain secrets.',
    }),
    errorCode: field(3, s.int32(), {
      zeroValue: 'keep',
      since: '1.33',
      gate: 'MutableCSINodeAllocatableCount',
      doc: 'gRPC status code of the error.',
    }),
  },
  {
    name: 'VolumeError',
    doc: 'An error that occurred while a volume was being attached or detached.',
    check: ({ message = '', errorCode = 0 }, path) => [
      ...(Buffer.byteLength(message) > maxMessageLength ? [tooLong(child(path, 'message'), maxMessageLength)] : []),
      ...(errorCode < 0 ? [invalid(child(path, 'errorCode'), errorCode, 'must be greater than or equal to 0')] : []),
    ],
  },
)

const status = s.object(
  {
    attached: field(1, s.boolean(), { zeroValue: 'write', doc: 'Whether the volume is attached.' }),
    attachmentMetadata: field(2, s.map(s.string()), {
      doc: 'Information that is needed to mount the attached volume. At most 256 KiB.',
    }),
    attachError: field(3, volumeError, { doc: 'Error from the last attempt to attach the volume.' }),
    detachError: field(4, volumeError, { doc: 'Error from the last attempt to detach the volume.' }),
  },
  {
    name: 'VolumeAttachmentStatus',
    doc: 'Observed status of a VolumeAttachment, reported by the attacher.',
    check: ({ attachmentMetadata = {} }, path) => checkMetadata(attachmentMetadata, child(path, 'attachmentMetadata')),
  },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Volume, and the node to which to attach it. Immutable.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status, reported by the attacher.' }),
}

export type VolumeAttachment = ObjectOf<typeof fields>

const columns: readonly Column<VolumeAttachment>[] = [
  nameColumn,
  {
    ...column('Attacher', 'Name of the driver that attaches the volume.', ({ spec }) => spec?.attacher ?? ''),
    format: 'name',
  },
  column('PV', 'Name of the PersistentVolume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
  column('Node', 'Name of the node to which to attach the volume.', ({ spec }) => spec?.nodeName ?? ''),
  {
    ...column('Attached', 'Whether the volume is attached.', ({ status }) => status?.attached ?? false),
    type: 'boolean',
  },
  ageColumn,
]

export const volumeAttachment = defineKind({
  names: {
    group: 'storage',
    version: 'v1',
    kind: 'VolumeAttachment',
    plural: 'volumeattachments',
    scope: 'Cluster',
  },
  doc: 'A request to attach a volume to a node, with the status of the attachment.',
  fields,
  rules: specAndStatus<VolumeAttachment>({
    newStatus: () => ({ attached: false }),
    validateCreate: checkNames,
    validateUpdate: (next, previous) => immutableField('spec', next.spec, previous.spec),
  }),
  lifecycle: {
    needsVersion: true,
    deleteAnswers: 'object',
  },
  views: {
    columns,
    subresources: { status: statusAlone },
  },
})

const oneOfTwo = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

function checkSource({ persistentVolumeName: name, inlineVolumeSpec: inline }: Source, path: FieldPath): FieldError[] {
  if (name === undefined) return inline === undefined ? [required(path, oneOfTwo)] : checkInline(inline, path)
  if (inline !== undefined) return [forbidden(path, oneOfTwo)]
  return name === ''
    ? [required(child(path, 'persistentVolumeName'), 'must specify non empty persistentVolumeName')]
    : []
}

/** Validates names on creation. They are immutable afterwards. */
function checkNames({ spec = {} }: VolumeAttachment, context: RuleContext): FieldError[] {
  const { attacher = '', source: { persistentVolumeName: name } = {} } = spec
  const faults = name === undefined ? [] : checkDnsSubdomain(name)
  return [
    ...checkDriverName(attacher, 'spec.attacher', context),
    ...faults.map((fault) => invalid('spec.source.persistentVolumeName', name, fault)),
  ]
}

/** Requires an inline volume to be a CSI volume without fields that apply only to PersistentVolume objects. */
function checkInline(inline: PersistentVolumeSpec, path: FieldPath): FieldError[] {
  const place = child(path, 'inlineVolumeSpec')
  const { volumeMode = 'Filesystem', persistentVolumeReclaimPolicy: policy = 'Retain' } = inline
  const { claimRef, capacity = {}, nodeAffinity, storageClassName } = inline
  const fieldsToCheck = { claimRef, capacity: Object.keys(capacity).length > 0, nodeAffinity, storageClassName }
  const notHere = keysOf(fieldsToCheck).filter((name) => fieldsToCheck[name])
  return [
    ...notHere.map((name) => forbidden(child(place, name), 'may not be specified in the context of inline volumes')),
    ...(inline.csi ? [] : [required(child(place, 'csi'), 'has to be specified in the context of inline volumes')]),
    ...(volumeMode === 'Filesystem'
      ? []
      : [forbidden(child(place, 'volumeMode'), 'may only be Filesystem in the context of inline volumes')]),
    ...(policy === 'Retain'
      ? []
      : [
          forbidden(
            child(place, 'persistentVolumeReclaimPolicy'),
            'may only be Retain in the context of inline volumes',
          ),
        ]),
  ]
}

function checkMetadata(metadata: { readonly [key: string]: string }, path: FieldPath): FieldError[] {
  let bytes = 0
  for (const key in metadata) bytes += Buffer.byteLength(key) + Buffer.byteLength(metadata[key]!)
  return bytes > maxMetadataBytes ? [tooLong(path, maxMetadataBytes)] : []
}

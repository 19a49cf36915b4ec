/**
 * VolumeAttachment: the wish that a volume be attached to a node, and whether it is. The wish never changes; who
 * attaches reports through `status` how it went.
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
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { inlineVolumeSpec, type PersistentVolumeSpec } from '../core/types/persistent-volume-spec.ts'
import { checkDriverName } from '../core/types/volumes/storage-systems.ts'
import { immutableField } from '../immutable.ts'
import { specAndStatus, statusAlone } from '../spec-and-status.ts'

const maxMessageLength = 1024
const maxMetadataBytes = 256 * 1024

const sourceFields = {
  persistentVolumeName: field(1, s.string(), { zero: 'keep', doc: 'The name of the PersistentVolume.' }),
  inlineVolumeSpec: field(2, inlineVolumeSpec, {
    doc: 'A volume that a pod names itself, in the form of a PersistentVolume. For volumes that move to a CSI driver.',
  }),
}

const source = s.object(sourceFields, {
  name: 'VolumeAttachmentSource',
  doc: 'The volume to attach, named in one of two ways.',
  leavesUnjudged: ({ persistentVolumeName }) => (persistentVolumeName === undefined ? [] : ['inlineVolumeSpec']),
  check: checkSource,
})

type Source = InferFields<typeof sourceFields>

const spec = s.object(
  {
    attacher: field(1, s.string(), {
      required: true,
      zero: 'write',
      doc: 'The driver that is to attach it, by name.',
    }),
    source: field(2, source, { zero: 'write', published: 'required', doc: 'The volume.' }),
    nodeName: field(3, s.string(), { zero: 'write', doc: 'The node.' }),
  },
  {
    name: 'VolumeAttachmentSpec',
    doc: 'Which volume is to be attached to which node. It never changes.',
    check: ({ nodeName = '' }, path) =>
      checkDnsSubdomain(nodeName).map((fault) => invalid(child(path, 'nodeName'), nodeName, fault)),
  },
)

const volumeError = s.object(
  {
    time: field(1, s.time(), { zero: 'write', published: 'optional', doc: 'When it went wrong.' }),
    message: field(2, s.string(), { doc: 'What went wrong, for people; at most 1024 bytes. No secrets in it.' }),
  },
  {
    name: 'VolumeError',
    doc: 'What went wrong, and when.',
    check: ({ message = '' }, path) =>
      Buffer.byteLength(message) > maxMessageLength ? [tooLong(child(path, 'message'), maxMessageLength)] : [],
  },
)

const status = s.object(
  {
    attached: field(1, s.boolean(), { zero: 'write', doc: 'Whether the volume is attached.' }),
    attachmentMetadata: field(2, s.map(s.string()), { doc: 'Information that the mounter needs, by key.' }),
    attachError: field(3, volumeError, { doc: 'What went wrong when it was last attached.' }),
    detachError: field(4, volumeError, { doc: 'What went wrong when it was last detached.' }),
  },
  {
    name: 'VolumeAttachmentStatus',
    doc: 'Whether the volume is attached. Reported by the attacher.',
    check: ({ attachmentMetadata = {} }, path) => checkMetadata(attachmentMetadata, child(path, 'attachmentMetadata')),
  },
)

const fields = {
  spec: field(2, spec, { zero: 'write', published: 'required', doc: 'Which volume, which node. It never changes.' }),
  status: field(3, status, { zero: 'write', doc: 'Whether it is attached. Reported by the attacher.' }),
}

export type VolumeAttachment = ObjectOf<typeof fields>

const columns: readonly Column<VolumeAttachment>[] = [
  nameColumn,
  { ...column('Attacher', 'The driver that attaches it.', ({ spec }) => spec?.attacher ?? ''), format: 'name' },
  column('PV', 'The PersistentVolume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
  column('Node', 'The node.', ({ spec }) => spec?.nodeName ?? ''),
  { ...column('Attached', 'Whether it is attached.', ({ status }) => status?.attached ?? false), type: 'boolean' },
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
  doc: 'A request to attach a volume to a node, and its state.',
  fields,
  rules: specAndStatus<VolumeAttachment>({
    newStatus: () => ({ attached: false }),
    validateCreate: checkNames,
    validateUpdate: (next, previous) => immutableField('spec', next.spec, previous.spec),
  }),
  life: {
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

/** The form of names that no update can change is judged once. */
function checkNames({ spec = {} }: VolumeAttachment): FieldError[] {
  const { attacher = '', source: { persistentVolumeName: name } = {} } = spec
  const faults = name === undefined ? [] : checkDnsSubdomain(name)
  return [
    ...checkDriverName(attacher, 'spec.attacher'),
    ...faults.map((fault) => invalid('spec.source.persistentVolumeName', name, fault)),
  ]
}

/** A volume that stands in no object of its own is one of a CSI driver, and has nothing that only such objects have. */
function checkInline(inline: PersistentVolumeSpec, path: FieldPath): FieldError[] {
  const place = child(path, 'inlineVolumeSpec')
  const { volumeMode = 'Filesystem', persistentVolumeReclaimPolicy: policy = 'Retain' } = inline
  const { claimRef, capacity = {}, nodeAffinity, storageClassName } = inline
  const given = { claimRef, capacity: Object.keys(capacity).length > 0, nodeAffinity, storageClassName }
  const notHere = keysOf(given).filter((name) => given[name])
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

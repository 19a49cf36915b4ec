/** Devices on a storage network as the content of volumes. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../../model/field-error.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'
import { checkByte, flag, fsType, readOnly, requiredText, secretRef } from './fields.ts'

export const fc = s.object(
  {
    targetWWNs: field(1, s.list(s.string()), { doc: 'The worldwide names of the targets; they need a lun.' }),
    lun: field(2, s.int32(), { zero: 'keep', doc: 'The number of the unit at the target.' }),
    fsType: fsType(3),
    readOnly: readOnly(4),
    wwids: field(5, s.list(s.string()), { doc: 'The worldwide ids of the device, instead of targets and lun.' }),
  },
  { name: 'FCVolumeSource', doc: 'A device on Fibre Channel.', check: checkFc },
)

function checkFc(
  { targetWWNs = [], wwids = [], lun }: { targetWWNs?: string[]; wwids?: string[]; lun?: number },
  path: FieldPath,
): FieldError[] {
  const targets = child(path, 'targetWWNs')
  if (targetWWNs.length === 0)
    return wwids.length > 0 ? [] : [required(targets, 'must specify either targetWWNs or wwids, but not both')]
  const both = wwids.length > 0 ? [invalid(targets, targetWWNs, 'can not be specified together with wwids')] : []
  const place = child(path, 'lun')
  return [...both, ...(lun === undefined ? [required(place, 'targetWWNs need a lun')] : checkByte(lun, place))]
}

export function rbdWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      monitors: field(1, s.list(s.string()), { required: true, doc: 'The monitors of the cluster.' }),
      image: requiredText(2, 'The name of the image.'),
      fsType: fsType(3),
      pool: field(4, s.string(), { default: 'rbd', doc: 'The pool of the image.' }),
      user: field(5, s.string(), { default: 'admin', doc: 'The user to map it as.' }),
      keyring: field(6, s.string(), {
        default: '/etc/ceph/keyring',
        doc: 'The file on the node with the key of the user.',
      }),
      secretRef: secretRef(7, reference),
      readOnly: readOnly(8),
    },
    { name, doc: 'An image of Ceph as a block device.' },
  )
}

export function iscsiWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      targetPortal: requiredText(1, 'The address of the target, with a port if it is not 3260.'),
      iqn: requiredText(2, 'The name of the target.'),
      lun: field(3, s.int32(), { zero: 'write', doc: 'The number of the unit at the target.' }),
      iscsiInterface: field(4, s.string(), { default: 'default', doc: 'The interface of the node to go through.' }),
      fsType: fsType(5),
      readOnly: readOnly(6),
      portals: field(7, s.list(s.string()), { doc: 'Further addresses of the target.' }),
      chapAuthDiscovery: flag(8, 'Whether to identify when targets are looked for.'),
      chapAuthSession: flag(11, 'Whether to identify when a session begins.'),
      secretRef: secretRef(10, reference),
      initiatorName: field(12, s.string(), { zero: 'keep', doc: 'The name to go by instead of that of the node.' }),
    },
    { name, doc: 'A device that an iSCSI target offers.', check: (iscsi, path) => checkIscsi(iscsi, path) },
  )
}

interface Iscsi {
  iqn?: string
  lun?: number
  chapAuthDiscovery?: boolean
  chapAuthSession?: boolean
  secretRef?: unknown
  initiatorName?: string
}

function checkIscsi(iscsi: Iscsi, path: FieldPath): FieldError[] {
  const { iqn = '', lun = 0, initiatorName } = iscsi
  const needsSecret = iscsi.chapAuthDiscovery || iscsi.chapAuthSession
  return [
    ...(iqn === '' ? [] : checkIscsiName(iqn, child(path, 'iqn'))),
    ...checkByte(lun, child(path, 'lun')),
    ...(needsSecret && iscsi.secretRef === undefined ? [required(child(path, 'secretRef'))] : []),
    ...(initiatorName === undefined ? [] : checkIscsiName(initiatorName, child(path, 'initiatorname'))),
  ]
}

const maxInterfaceNameLength = 64

/** With an initiator of its own, the node names an interface after the volume and the portal. */
export function fitsInterface(
  volume: string,
  { initiatorName, targetPortal = '' }: { initiatorName?: string; targetPortal?: string },
): boolean {
  return initiatorName === undefined || `${volume}:${targetPortal}`.length <= maxInterfaceNameLength
}

const iscsiName = /^(?:iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+|eui\.[A-Za-z0-9]{16}|naa\.[A-Za-z0-9]{32})$/

function checkIscsiName(name: string, path: FieldPath): FieldError[] {
  return iscsiName.test(name)
    ? []
    : [invalid(path, name, 'must be valid format: a name that starts with iqn, eui or naa')]
}

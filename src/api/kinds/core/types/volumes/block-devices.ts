/** Volume sources backed by block devices in a storage network. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../../model/field-error.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'
import { checkByte, flag, fsType, readOnly, requiredText, secretRef } from './fields.ts'

export const fc = s.object(
  {
    targetWWNs: field(1, s.list(s.string()), {
      doc: 'World Wide Names of the Fibre Channel targets. Requires `lun`. Mutually exclusive with `wwids`.',
    }),
    lun: field(2, s.int32(), {
      zeroValue: 'keep',
      doc: 'Logical unit number of the disk at the target, from 0 to 255. Required if `targetWWNs` is set.',
    }),
    fsType: fsType(3),
    readOnly: readOnly(4),
    wwids: field(5, s.list(s.string()), {
      doc: 'World Wide Identifiers of the disk. Mutually exclusive with `targetWWNs`.',
    }),
  },
  { name: 'FCVolumeSource', doc: 'A Fibre Channel disk.', check: checkFc },
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
  return [...both, ...(lun === undefined ? [required(place, 'targetWWNs require a lun')] : checkByte(lun, place))]
}

export function rbdWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      monitors: field(1, s.list(s.string()), { required: true, doc: 'Addresses of the Ceph monitors.' }),
      image: requiredText(2, 'Name of the RBD image.'),
      fsType: fsType(3),
      pool: field(4, s.string(), {
        default: 'rbd',
        publishDefaultSince: '1.31',
        doc: 'Ceph pool that contains the image. Defaults to `rbd`.',
      }),
      user: field(5, s.string(), {
        default: 'admin',
        publishDefaultSince: '1.31',
        doc: 'Name of the Ceph user. Defaults to `admin`.',
      }),
      keyring: field(6, s.string(), {
        default: '/etc/ceph/keyring',
        publishDefaultSince: '1.31',
        doc: 'Path of the keyring on the node. Defaults to `/etc/ceph/keyring`.',
      }),
      secretRef: secretRef(7, reference),
      readOnly: readOnly(8),
    },
    { name, doc: 'A Ceph RBD image that is used as a block device.' },
  )
}

export function iscsiWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      targetPortal: requiredText(1, 'Address of the iSCSI target. Must include the port unless it is 3260.'),
      iqn: requiredText(2, 'Name of the target in IQN, EUI or NAA format.'),
      lun: field(3, s.int32(), {
        zeroValue: 'write',
        doc: 'Logical unit number of the disk at the target, from 0 to 255.',
      }),
      iscsiInterface: field(4, s.string(), {
        default: 'default',
        publishDefaultSince: '1.31',
        doc: 'Name of the iSCSI interface on the node. Defaults to `default`.',
      }),
      fsType: fsType(5),
      readOnly: readOnly(6),
      portals: field(7, s.list(s.string()), { doc: 'Additional addresses of the iSCSI target.' }),
      chapAuthDiscovery: flag(8, 'Whether discovery uses CHAP authentication. If true, `secretRef` is required.'),
      chapAuthSession: flag(11, 'Whether sessions use CHAP authentication. If true, `secretRef` is required.'),
      secretRef: secretRef(10, reference),
      initiatorName: field(12, s.string(), {
        zeroValue: 'keep',
        doc: "Name of the iSCSI initiator. Defaults to the node's initiator.",
      }),
    },
    { name, doc: 'A disk on an iSCSI target.', check: (iscsi, path) => checkIscsi(iscsi, path) },
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

/**
 * Whether the name of the iSCSI interface is within the length limit. With a custom initiator, the node creates an
 * interface named `<volume>:<portal>`.
 */
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

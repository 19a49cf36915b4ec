/**
 * Where the data of a volume is: the sources that volumes of Pods and persistent volumes have in common, each with its
 * own rules. Those that need a Secret are made with the kind of reference that fits the place: a Pod names one in its
 * own namespace, a persistent volume one in any.
 */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { isVendorKey } from '../../../model/vendor.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type Schema, s } from '../../../schema/schema.ts'

const text = (tag: number) => field(tag, s.string())
const requiredText = (tag: number) => field(tag, s.string(), { required: true })
const flag = (tag: number) => field(tag, s.boolean())

export const gcePersistentDisk = s.object(
  { pdName: requiredText(1), fsType: text(2), partition: field(3, s.int32()), readOnly: flag(4) },
  { check: checkPartition },
)

export const awsElasticBlockStore = s.object(
  { volumeID: requiredText(1), fsType: text(2), partition: field(3, s.int32()), readOnly: flag(4) },
  { check: checkPartition },
)

function checkPartition({ partition = 0 }: { partition?: number }, path: FieldPath): FieldError[] {
  return checkByte(partition, child(path, 'partition'))
}

function checkByte(value: number, path: FieldPath): FieldError[] {
  return value >= 0 && value <= 255 ? [] : [invalid(path, value, 'must be between 0 and 255, inclusive')]
}

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

export const hostPath = s.object(
  { path: requiredText(1), type: field(2, s.string(), { zero: 'keep', default: '' }) },
  {
    check: ({ path = '', type = '' }, place) => {
      if (path === '') return []
      const typeFaults = hostPathTypes.includes(type) ? [] : [notSupported(child(place, 'type'), type, hostPathTypes)]
      return [...checkNoBacksteps(path, child(place, 'path')), ...typeFaults]
    },
  },
)

export function checkNoBacksteps(value: string, path: FieldPath): FieldError[] {
  return value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : []
}

export const nfs = s.object(
  { server: requiredText(1), path: requiredText(2), readOnly: flag(3) },
  {
    check: ({ path = '' }, place) =>
      path.startsWith('/') ? [] : [invalid(child(place, 'path'), path, 'must be an absolute path')],
  },
)

export const fc = s.object(
  {
    targetWWNs: field(1, s.list(s.string())),
    lun: field(2, s.int32(), { zero: 'keep' }),
    fsType: text(3),
    readOnly: flag(4),
    wwids: field(5, s.list(s.string())),
  },
  { check: checkFc },
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

export const flocker = s.object(
  { datasetName: text(1), datasetUUID: text(2) },
  {
    check: ({ datasetName = '', datasetUUID = '' }, path) => [
      ...(datasetName === '' && datasetUUID === ''
        ? [required(path, 'either datasetName or datasetUUID is needed')]
        : []),
      ...(datasetName !== '' && datasetUUID !== ''
        ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified together')]
        : []),
      ...(datasetName.includes('/') ? [invalid(child(path, 'datasetName'), datasetName, "must not contain '/'")] : []),
    ],
  },
)

export const vsphereVolume = s.object({
  volumePath: requiredText(1),
  fsType: text(2),
  storagePolicyName: text(3),
  storagePolicyID: text(4),
})

export const quobyte = s.object(
  {
    registry: requiredText(1),
    volume: requiredText(2),
    readOnly: flag(3),
    user: text(4),
    group: text(5),
    tenant: text(6),
  },
  { check: checkQuobyte },
)

const longestTenant = 64
const hostAndPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/

function checkQuobyte(
  { registry = '', tenant = '' }: { registry?: string; tenant?: string },
  path: FieldPath,
): FieldError[] {
  if (registry === '') return []
  if (tenant.length > longestTenant)
    return [required(child(path, 'tenant'), `must be a UUID of at most ${longestTenant} characters`)]
  if (registry.split(',').every((pair) => hostAndPort.test(pair))) return []
  return [invalid(child(path, 'registry'), registry, 'must be host:port pairs, separated by commas')]
}

export const azureDisk = s.object(
  {
    diskName: requiredText(1),
    diskURI: requiredText(2),
    cachingMode: field(3, s.oneOf('None', 'ReadOnly', 'ReadWrite'), { zero: 'keep', default: 'ReadWrite' }),
    fsType: field(4, s.string(), { zero: 'keep', default: 'ext4' }),
    readOnly: field(5, s.boolean(), { zero: 'keep', default: false }),
    kind: field(6, s.oneOf('Dedicated', 'Managed', 'Shared'), { zero: 'keep', default: 'Shared' }),
  },
  {
    check: ({ diskURI = '', kind }, path) => {
      const form =
        kind === 'Managed'
          ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
          : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'
      const start = form.slice(0, form.indexOf('{'))
      return diskURI.startsWith(start) ? [] : [notSupported(child(path, 'diskURI'), diskURI, [form])]
    },
  },
)

export const photonPersistentDisk = s.object({ pdID: requiredText(1), fsType: text(2) })

export const portworxVolume = s.object({ volumeID: requiredText(1), fsType: text(2), readOnly: flag(3) })

export function rbdWith<S extends Schema>(secretRef: S) {
  return s.object({
    monitors: field(1, s.list(s.string()), { required: true }),
    image: requiredText(2),
    fsType: text(3),
    pool: field(4, s.string(), { default: 'rbd' }),
    user: field(5, s.string(), { default: 'admin' }),
    keyring: field(6, s.string(), { default: '/etc/ceph/keyring' }),
    secretRef: field(7, secretRef),
    readOnly: flag(8),
  })
}

export function cephfsWith<S extends Schema>(secretRef: S) {
  return s.object({
    monitors: field(1, s.list(s.string()), { required: true }),
    path: text(2),
    user: text(3),
    secretFile: text(4),
    secretRef: field(5, secretRef),
    readOnly: flag(6),
  })
}

export function cinderWith<S extends Schema>(secretRef: S) {
  return s.object({ volumeID: requiredText(1), fsType: text(2), readOnly: flag(3), secretRef: field(4, secretRef) })
}

export function scaleIoWith<S extends Schema>(secretRef: S) {
  return s.object({
    gateway: requiredText(1),
    system: requiredText(2),
    secretRef: field(3, secretRef),
    sslEnabled: flag(4),
    protectionDomain: text(5),
    storagePool: text(6),
    storageMode: field(7, s.string(), { default: 'ThinProvisioned' }),
    volumeName: requiredText(8),
    fsType: field(9, s.string(), { default: 'xfs' }),
    readOnly: flag(10),
  })
}

export function storageOsWith<S extends Schema>(secretRef: S) {
  return s.object(
    {
      volumeName: requiredText(1),
      volumeNamespace: text(2),
      fsType: text(3),
      readOnly: flag(4),
      secretRef: field(5, secretRef),
    },
    {
      check: ({ volumeName = '', volumeNamespace = '' }, path) => [
        ...checkLabel(volumeName, child(path, 'volumeName')),
        ...checkLabel(volumeNamespace, child(path, 'volumeNamespace')),
      ],
    },
  )
}

/** A name that is not there is no fault here. */
function checkLabel(name: string, path: FieldPath): FieldError[] {
  return name === '' ? [] : checkDnsLabel(name).map((fault) => invalid(path, name, fault))
}

export function flexVolumeWith<S extends Schema>(secretRef: S) {
  return s.object(
    {
      driver: requiredText(1),
      fsType: text(2),
      secretRef: field(3, secretRef),
      readOnly: flag(4),
      options: field(5, s.map(s.string())),
    },
    { check: checkFlexOptions },
  )
}

/** The node tells a driver about the Pod in options of the vendor's own. */
function checkFlexOptions(
  { options = {} }: { options?: { [key: string]: string } },
  path: FieldPath,
  { vendor }: RuleContext,
): FieldError[] {
  return Object.keys(options)
    .filter((key) => isVendorKey(vendor, key))
    .map((key) => invalid(at(child(path, 'options'), key), key, `the domain ${vendor.keyDomain} is reserved`))
}

export function iscsiWith<S extends Schema>(secretRef: S) {
  return s.object(
    {
      targetPortal: requiredText(1),
      iqn: requiredText(2),
      lun: field(3, s.int32(), { zero: 'write' }),
      iscsiInterface: field(4, s.string(), { default: 'default' }),
      fsType: text(5),
      readOnly: flag(6),
      portals: field(7, s.list(s.string())),
      chapAuthDiscovery: flag(8),
      secretRef: field(10, secretRef),
      chapAuthSession: flag(11),
      initiatorName: field(12, s.string(), { zero: 'keep' }),
    },
    { check: (iscsi, path) => checkIscsi(iscsi, path) },
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

const iscsiName = /^(?:iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+|eui\.[A-Za-z0-9]{16}|naa\.[A-Za-z0-9]{32})$/

function checkIscsiName(name: string, path: FieldPath): FieldError[] {
  return iscsiName.test(name)
    ? []
    : [invalid(path, name, 'must be valid format: a name that starts with iqn, eui or naa')]
}

const longestDriverName = 63

/** The name of a CSI driver: a DNS subdomain, whose letters may be capital. */
export function checkDriverName(name: string, path: FieldPath): FieldError[] {
  return [
    ...(name === '' ? [required(path)] : []),
    ...(name.length > longestDriverName ? [tooLong(path, longestDriverName)] : []),
    ...checkDnsSubdomain(name.toLowerCase()).map((fault) => invalid(path, name, fault)),
  ]
}

/** Volume sources backed by disks that a cloud provider attaches to a node. */
import { child, type FieldError, type FieldPath, notSupported } from '../../../../model/field-error.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'
import { checkByte, fsType, readOnly, requiredText, secretRef, text } from './fields.ts'

const partition = field(3, s.int32(), {
  doc: 'Number of the partition to mount, from 0 to 255. The number 0 selects the whole disk.',
})

export const gcePersistentDisk = s.object(
  { pdName: requiredText(1, 'Name of the disk.'), fsType: fsType(2), partition, readOnly: readOnly(4) },
  { name: 'GCEPersistentDiskVolumeSource', doc: 'A Google Compute Engine persistent disk.', check: checkPartition },
)

export const awsElasticBlockStore = s.object(
  { volumeID: requiredText(1, 'ID of the volume.'), fsType: fsType(2), partition, readOnly: readOnly(4) },
  { name: 'AWSElasticBlockStoreVolumeSource', doc: 'An AWS Elastic Block Store volume.', check: checkPartition },
)

function checkPartition({ partition = 0 }: { partition?: number }, path: FieldPath): FieldError[] {
  return checkByte(partition, child(path, 'partition'))
}

export const azureDisk = s.object(
  {
    diskName: requiredText(1, 'Name of the disk.'),
    diskURI: requiredText(2, 'URI of the disk.'),
    cachingMode: field(3, s.oneOf('None', 'ReadOnly', 'ReadWrite'), {
      zeroValue: 'keep',
      default: 'ReadWrite',
      publishDefaultSince: '1.31',
      doc: 'Host caching mode: `None`, `ReadOnly` or `ReadWrite`. Defaults to `ReadWrite`.',
    }),
    fsType: field(4, s.string(), {
      zeroValue: 'keep',
      default: 'ext4',
      publishDefaultSince: '1.31',
      doc: 'File system type of the disk. Defaults to `ext4`.',
    }),
    readOnly: field(5, s.boolean(), {
      zeroValue: 'keep',
      default: false,
      doc: 'Whether the disk is mounted read-only. Defaults to false.',
    }),
    kind: field(6, s.oneOf('Dedicated', 'Managed', 'Shared'), {
      zeroValue: 'keep',
      default: 'Shared',
      publishDefaultSince: '1.31',
      doc: 'How the disk is stored: in a shared (`Shared`) or dedicated (`Dedicated`) storage account, or as a managed disk (`Managed`). Defaults to `Shared`.',
    }),
  },
  { name: 'AzureDiskVolumeSource', doc: 'An Azure data disk.', check: checkAddress },
)

function checkAddress({ diskURI = '', kind }: { diskURI?: string; kind?: string }, path: FieldPath): FieldError[] {
  const form =
    kind === 'Managed'
      ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
      : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'
  const start = form.slice(0, form.indexOf('{'))
  return diskURI.startsWith(start) ? [] : [notSupported(child(path, 'diskURI'), diskURI, [form])]
}

export const vsphereVolume = s.object(
  {
    volumePath: requiredText(1, 'Path of the virtual disk, including the datastore.'),
    fsType: fsType(2),
    storagePolicyName: text(3, 'Name of the storage policy.'),
    storagePolicyID: text(4, 'ID of the storage policy.'),
  },
  { name: 'VsphereVirtualDiskVolumeSource', doc: 'A vSphere virtual disk.' },
)

export const photonPersistentDisk = s.object(
  { pdID: requiredText(1, 'ID of the persistent disk.'), fsType: fsType(2) },
  { name: 'PhotonPersistentDiskVolumeSource', doc: 'A Photon Controller persistent disk.' },
)

export function cinderWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      volumeID: requiredText(1, 'ID of the Cinder volume.'),
      fsType: fsType(2),
      readOnly: readOnly(3),
      secretRef: secretRef(4, reference),
    },
    { name, doc: 'An OpenStack Cinder volume.' },
  )
}

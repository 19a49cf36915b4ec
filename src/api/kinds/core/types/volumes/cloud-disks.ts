/** Disks that a cloud attaches to a node as the content of volumes. */
import { child, type FieldError, type FieldPath, notSupported } from '../../../../model/field-error.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'
import { checkByte, fsType, readOnly, requiredText, secretRef, text } from './fields.ts'

const partition = field(3, s.int32(), { doc: 'The number of the partition; 0 is the whole disk.' })

export const gcePersistentDisk = s.object(
  { pdName: requiredText(1, 'The name of the disk.'), fsType: fsType(2), partition, readOnly: readOnly(4) },
  { name: 'GCEPersistentDiskVolumeSource', doc: 'A disk of Google Compute Engine.', check: checkPartition },
)

export const awsElasticBlockStore = s.object(
  { volumeID: requiredText(1, 'The id of the disk.'), fsType: fsType(2), partition, readOnly: readOnly(4) },
  { name: 'AWSElasticBlockStoreVolumeSource', doc: 'A disk of the AWS Elastic Block Store.', check: checkPartition },
)

function checkPartition({ partition = 0 }: { partition?: number }, path: FieldPath): FieldError[] {
  return checkByte(partition, child(path, 'partition'))
}

export const azureDisk = s.object(
  {
    diskName: requiredText(1, 'The name of the disk.'),
    diskURI: requiredText(2, 'The address of the disk.'),
    cachingMode: field(3, s.oneOf('None', 'ReadOnly', 'ReadWrite'), {
      zero: 'keep',
      default: 'ReadWrite',
      doc: 'What the host keeps in memory: None, ReadOnly or ReadWrite.',
    }),
    fsType: field(4, s.string(), { zero: 'keep', default: 'ext4', doc: 'The file system on it.' }),
    readOnly: field(5, s.boolean(), { zero: 'keep', default: false, doc: 'Whether it can only be read.' }),
    kind: field(6, s.oneOf('Dedicated', 'Managed', 'Shared'), {
      zero: 'keep',
      default: 'Shared',
      doc: 'Where the disk lives: in a Shared account, in one that is Dedicated to it, or Managed by Azure.',
    }),
  },
  { name: 'AzureDiskVolumeSource', doc: 'A disk of Azure.', check: checkAddress },
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
    volumePath: requiredText(1, 'Where the disk is: its datastore and path.'),
    fsType: fsType(2),
    storagePolicyName: text(3, 'The storage policy of the disk, by name.'),
    storagePolicyID: text(4, 'The storage policy of the disk, by id.'),
  },
  { name: 'VsphereVirtualDiskVolumeSource', doc: 'A disk of vSphere.' },
)

export const photonPersistentDisk = s.object(
  { pdID: requiredText(1, 'The id of the disk.'), fsType: fsType(2) },
  { name: 'PhotonPersistentDiskVolumeSource', doc: 'A disk of the Photon controller.' },
)

export function cinderWith<S extends Schema>(name: string, reference: S) {
  return s.object(
    {
      volumeID: requiredText(1, 'The id of the disk.'),
      fsType: fsType(2),
      readOnly: readOnly(3),
      secretRef: secretRef(4, reference),
    },
    { name, doc: 'A disk of Cinder, of OpenStack.' },
  )
}

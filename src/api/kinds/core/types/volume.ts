/** Volume: a directory that the containers of a pod can mount, and where its content comes from. */
import { child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { checkAnnotations, checkLabels } from '../../../selectors/label-rules.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { parseQuantity, quantitySign } from '../../../model/quantity.ts'
import { objectMeta } from '../../../schema/object-meta.ts'
import { field, type Infer, type InferFields, inlined, type Schema, s } from '../../../schema/schema.ts'
import { persistentVolumeClaimSpec } from './claim-spec.ts'
import { checkDescendingPath } from './file-paths.ts'
import { localObjectReference, namedReference } from './local-references.ts'
import { configMapVolume, downwardVolume, projectedVolume, secretVolume } from './projected-files.ts'
import { fc, fitsInterface, iscsiWith, rbdWith } from './volumes/block-devices.ts'
import * as disks from './volumes/cloud-disks.ts'
import * as shares from './volumes/file-shares.ts'
import { hostPath } from './volumes/host-path.ts'
import * as systems from './volumes/storage-systems.ts'

const emptyDir = s.object(
  {
    medium: field(1, s.string(), { doc: 'Where it is: empty for the disk of the node, Memory for its memory.' }),
    sizeLimit: field(2, s.quantity(), { zero: 'keep', doc: 'How much it may hold; unbounded if unset.' }),
  },
  {
    name: 'EmptyDirVolumeSource',
    doc: 'A directory that is empty at first and goes with the pod.',
    check: ({ sizeLimit = '0' }, path) =>
      quantitySign(parseQuantity(sizeLimit)!) < 0 ? [forbidden(child(path, 'sizeLimit'), 'must not be negative')] : [],
  },
)

const gitRepo = s.object(
  {
    repository: field(1, s.string(), { zero: 'write', required: true, doc: 'The address of the repository.' }),
    revision: field(2, s.string(), { doc: 'The commit to check out.' }),
    directory: field(3, s.string(), { doc: 'The directory to clone into; empty for one named after the repository.' }),
  },
  {
    name: 'GitRepoVolumeSource',
    doc: 'A clone of a repository. Deprecated: clone into an emptyDir from an init container.',
    check: ({ directory = '' }, path) => checkDescendingPath(directory, child(path, 'directory')),
  },
)

const glusterfs = s.object(shares.glusterfsFields, { name: 'GlusterfsVolumeSource', doc: 'A volume of Glusterfs.' })

const azureFile = s.object(shares.azureFileFields, { name: 'AzureFileVolumeSource', doc: 'A share of Azure.' })

const claim = s.object(
  {
    claimName: field(1, s.string(), { zero: 'write', required: true, doc: 'The name of the claim.' }),
    readOnly: field(2, s.boolean(), { doc: 'Whether it can only be read.' }),
  },
  { name: 'PersistentVolumeClaimVolumeSource', doc: 'The volume that a claim in the same namespace is bound to.' },
)

const csi = s.object(
  {
    driver: field(1, s.string(), { zero: 'write', doc: 'The name of the driver.' }),
    readOnly: field(2, s.boolean(), { zero: 'keep', doc: 'Whether it can only be read.' }),
    fsType: field(3, s.string(), { zero: 'keep', doc: 'The file system on it. The driver chooses if unset.' }),
    volumeAttributes: field(4, s.map(s.string()), { doc: 'Attributes for the driver.' }),
    nodePublishSecretRef: field(5, localObjectReference, { doc: 'The Secret to mount it with.' }),
  },
  {
    name: 'CSIVolumeSource',
    doc: 'A volume that a driver makes for the pod alone.',
    check: ({ driver = '', nodePublishSecretRef: secret }, path) => [
      ...systems.checkDriverName(driver, child(path, 'driver')),
      ...(secret ? checkSecretName(secret.name, path) : []),
    ],
  },
)

const templateFields = {
  metadata: field(1, objectMeta, { zero: 'write', doc: 'Labels and annotations of the claim.' }),
  spec: field(2, persistentVolumeClaimSpec, { zero: 'write', published: 'required', doc: 'The spec of the claim.' }),
}

const claimTemplate = s.object(templateFields, {
  name: 'PersistentVolumeClaimTemplate',
  doc: 'The claim that is made for the pod.',
  check: ({ metadata = {} }, path) => checkTemplateMetadata(metadata, child(path, 'metadata')),
})

const ephemeral = s.object(
  {
    volumeClaimTemplate: field(1, claimTemplate, {
      required: true,
      published: 'optional',
      doc: 'The claim that is made; its name is that of the pod, a dash and that of the volume.',
    }),
  },
  { name: 'EphemeralVolumeSource', doc: 'A volume whose claim is created and deleted with the pod.' },
)

/** A source that needs a Secret names one in the namespace of the pod. */
const inNamespace = <S extends Schema>(
  source: (name: string, reference: typeof localObjectReference) => S,
  name: string,
) => source(name, localObjectReference)

const sources = {
  hostPath: field(1, hostPath, { doc: 'A file or directory of the node.' }),
  emptyDir: field(2, emptyDir, { doc: 'A directory that goes with the pod.' }),
  gcePersistentDisk: field(3, disks.gcePersistentDisk, { doc: 'A disk of Google Compute Engine.' }),
  awsElasticBlockStore: field(4, disks.awsElasticBlockStore, { doc: 'A disk of the AWS Elastic Block Store.' }),
  gitRepo: field(5, gitRepo, { doc: 'A clone of a repository. Deprecated.' }),
  secret: field(6, secretVolume, { doc: 'The keys of a Secret as files.' }),
  nfs: field(7, shares.nfs, { doc: 'A directory of an NFS server.' }),
  iscsi: field(8, inNamespace(iscsiWith, 'ISCSIVolumeSource'), { doc: 'A device of an iSCSI target.' }),
  glusterfs: field(9, glusterfs, { doc: 'A volume of Glusterfs.' }),
  persistentVolumeClaim: field(10, claim, { doc: 'The volume of a claim.' }),
  rbd: field(11, inNamespace(rbdWith, 'RBDVolumeSource'), { doc: 'An image of Ceph.' }),
  flexVolume: field(12, inNamespace(systems.flexVolumeWith, 'FlexVolumeSource'), {
    doc: 'A volume of a driver that is installed on the node.',
  }),
  cinder: field(13, disks.cinderWith('CinderVolumeSource', namedReference), { doc: 'A disk of Cinder.' }),
  cephfs: field(14, inNamespace(shares.cephfsWith, 'CephFSVolumeSource'), { doc: 'A directory of CephFS.' }),
  flocker: field(15, systems.flocker, { doc: 'A dataset of Flocker.' }),
  downwardAPI: field(16, downwardVolume, { doc: 'Fields of the pod as files.' }),
  fc: field(17, fc, { doc: 'A device on Fibre Channel.' }),
  azureFile: field(18, azureFile, { doc: 'A share of Azure.' }),
  configMap: field(19, configMapVolume, { doc: 'The keys of a ConfigMap as files.' }),
  vsphereVolume: field(20, disks.vsphereVolume, { doc: 'A disk of vSphere.' }),
  quobyte: field(21, shares.quobyte, { doc: 'A volume of Quobyte.' }),
  azureDisk: field(22, disks.azureDisk, { doc: 'A disk of Azure.' }),
  photonPersistentDisk: field(23, disks.photonPersistentDisk, { doc: 'A disk of the Photon controller.' }),
  projected: field(26, projectedVolume, { doc: 'Files from several sources together.' }),
  portworxVolume: field(24, systems.portworxVolume, { doc: 'A volume of Portworx.' }),
  scaleIO: field(25, inNamespace(systems.scaleIoWith, 'ScaleIOVolumeSource'), { doc: 'A volume of ScaleIO.' }),
  storageos: field(27, systems.storageOsWith('StorageOSVolumeSource', namedReference), {
    doc: 'A volume of StorageOS.',
  }),
  csi: field(28, csi, { doc: 'A volume that a driver makes for the pod alone.' }),
  ephemeral: field(29, ephemeral, { doc: 'A volume whose claim is created with the pod.' }),
}

/** In the order in which they count where there is more than one. */
const sourceNames: readonly (keyof typeof sources)[] = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
]

const fields = {
  name: field(1, s.string(), { zero: 'write', required: true, doc: 'The name by which containers mount it.' }),
  ...inlined(2, sources),
}

export type Volume = InferFields<typeof fields>

export const volume = s.object(fields, {
  name: 'Volume',
  doc: 'A directory for the containers of a pod, by name.',
  choice: { among: sourceNames, noun: 'volume type' },
  fill: (value) => {
    if (sourceNames.every((name) => value[name] === undefined)) value.emptyDir = {}
  },
  check: ({ name = '', iscsi }, path) => [
    ...(name === '' ? [] : checkDnsLabel(name).map((text) => invalid(child(path, 'name'), name, text))),
    ...(iscsi && !fitsInterface(name, iscsi)
      ? [invalid(child(path, 'name'), name, 'is too long together with iscsi.targetPortal')]
      : []),
  ],
})

/** A missing name is reported at its own place, a wrong one at the volume's, as clients expect. */
function checkSecretName(name = '', path: FieldPath): FieldError[] {
  if (name === '') return [required(child(path, 'nodePublishSecretRef.name'))]
  return checkDnsSubdomain(name).map((text) => invalid(child(path, 'name'), name, text))
}

/** The claim gets its name and its owner from the pod; labels and annotations are all that a template can add. */
function checkTemplateMetadata(metadata: Infer<typeof objectMeta>, path: FieldPath): FieldError[] {
  const { labels, annotations, ...others } = metadata
  return [
    ...Object.keys(others).map((name) => forbidden(child(path, name), 'cannot be set for an ephemeral volume')),
    ...checkLabels(labels, child(path, 'labels')),
    ...checkAnnotations(annotations, child(path, 'annotations')),
  ]
}

/** A Volume is a directory that the containers of a pod can mount. Its source determines its content. */
import { child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { parseQuantity, quantitySign } from '../../../model/quantity.ts'
import { isEnabled } from '../../../schema/context.ts'
import { objectMeta } from '../../../schema/object-meta.ts'
import { field, type Infer, type InferFields, inlined, type Schema, s } from '../../../schema/schema.ts'
import { checkAnnotations, checkLabels } from '../../../selectors/label-rules.ts'
import { templatedClaimSpec } from './claim-spec.ts'
import { checkDescendingPath } from './file-paths.ts'
import { tagOf } from './image.ts'
import { localObjectReference, namedReference } from './local-references.ts'
import { configMapVolume, downwardVolume, projectedVolume, secretVolume } from './projected-files.ts'
import { fc, fitsInterface, iscsiWith, rbdWith } from './volumes/block-devices.ts'
import * as disks from './volumes/cloud-disks.ts'
import * as shares from './volumes/file-shares.ts'
import { hostPath } from './volumes/host-path.ts'
import * as systems from './volumes/storage-systems.ts'

const emptyDir = s.object(
  {
    medium: field(1, s.string(), { doc: "Storage medium: `Memory` for RAM, or empty for the node's disk." }),
    sizeLimit: field(2, s.quantity(), {
      zeroValue: 'keep',
      doc: 'Maximum size of the directory. If unset, there is no limit.',
    }),
  },
  {
    name: 'EmptyDirVolumeSource',
    doc: 'A directory that is initially empty and is deleted together with the pod.',
    check: ({ sizeLimit = '0' }, path) =>
      quantitySign(parseQuantity(sizeLimit)!) < 0 ? [forbidden(child(path, 'sizeLimit'), 'must not be negative')] : [],
  },
)

const gitRepo = s.object(
  {
    repository: field(1, s.string(), { zeroValue: 'write', required: true, doc: 'URL of the Git repository.' }),
    revision: field(2, s.string(), { doc: 'Commit to check out.' }),
    directory: field(3, s.string(), {
      doc: 'Path of the directory to clone into, relative to the root of the volume. If empty, the directory is named after the repository.',
    }),
  },
  {
    name: 'GitRepoVolumeSource',
    doc: 'A clone of a Git repository. Deprecated: use an init container that clones the repository into an `emptyDir` volume.',
    check: ({ directory = '' }, path) => checkDescendingPath(directory, child(path, 'directory')),
  },
)

const glusterfs = s.object(shares.glusterfsFields, { name: 'GlusterfsVolumeSource', doc: 'A Glusterfs volume.' })

const azureFile = s.object(shares.azureFileFields, { name: 'AzureFileVolumeSource', doc: 'An Azure Files share.' })

const claim = s.object(
  {
    claimName: field(1, s.string(), {
      zeroValue: 'write',
      required: true,
      doc: 'Name of a claim in the same namespace.',
    }),
    readOnly: field(2, s.boolean(), { doc: 'Whether the volume is mounted read-only. Defaults to false.' }),
  },
  { name: 'PersistentVolumeClaimVolumeSource', doc: 'The volume that is bound to a claim in the same namespace.' },
)

const csi = s.object(
  {
    driver: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the CSI driver. At most 63 characters.' }),
    readOnly: field(2, s.boolean(), { zeroValue: 'keep', doc: 'Whether the volume is read-only. Defaults to false.' }),
    fsType: field(3, s.string(), {
      zeroValue: 'keep',
      doc: 'File system type of the volume. If unset, the driver chooses the type.',
    }),
    volumeAttributes: field(4, s.map(s.string()), { doc: 'Attributes to pass to the driver.' }),
    nodePublishSecretRef: field(5, localObjectReference, {
      doc: 'Secret in the same namespace that the CSI driver uses when it publishes the volume.',
    }),
  },
  {
    name: 'CSIVolumeSource',
    doc: 'A volume that a CSI driver creates for a single pod.',
    check: ({ driver = '', nodePublishSecretRef: secret }, path, context) => [
      ...systems.checkDriverName(driver, child(path, 'driver'), context),
      ...(secret ? checkSecretName(secret.name, path) : []),
    ],
  },
)

const templateFields = {
  metadata: field(1, objectMeta, {
    zeroValue: 'write',
    doc: 'Labels and annotations for the claim. Other metadata is not allowed.',
  }),
  spec: field(2, templatedClaimSpec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Specification of the claim.',
  }),
}

const claimTemplate = s.object(templateFields, {
  name: 'PersistentVolumeClaimTemplate',
  doc: 'A template for the claim that is created for a pod.',
  check: ({ metadata = {} }, path) => checkTemplateMetadata(metadata, child(path, 'metadata')),
})

const ephemeral = s.object(
  {
    volumeClaimTemplate: field(1, claimTemplate, {
      required: true,
      published: 'optional',
      doc: 'Template for the claim. The claim gets the name `<pod name>-<volume name>`.',
    }),
  },
  { name: 'EphemeralVolumeSource', doc: 'A volume whose claim is created and deleted together with the pod.' },
)

const imageVolume = s.object(
  {
    reference: field(1, s.string(), { doc: 'Image or artifact to mount. Required.' }),
    pullPolicy: field(2, s.oneOf('Always', 'IfNotPresent', 'Never'), {
      doc: 'When to pull the image: `Always`, `IfNotPresent` or `Never`. Defaults to `Always` if the image tag is `latest`, otherwise to `IfNotPresent`.',
    }),
  },
  {
    name: 'ImageVolumeSource',
    doc: 'The content of an image, mounted as a read-only volume.',
    fill: (value, context) => {
      if (isEnabled('ImageVolume', context))
        value.pullPolicy ??= tagOf(value.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
    },
  },
)

/** Returns a volume source that refers to a Secret in the namespace of the pod. */
const inNamespace = <S extends Schema>(
  source: (name: string, reference: typeof localObjectReference) => S,
  name: string,
) => source(name, localObjectReference)

const sources = {
  hostPath: field(1, hostPath, { doc: 'File or directory on the node.' }),
  emptyDir: field(2, emptyDir, { doc: 'Temporary directory that is deleted together with the pod.' }),
  gcePersistentDisk: field(3, disks.gcePersistentDisk, { doc: 'Google Compute Engine persistent disk.' }),
  awsElasticBlockStore: field(4, disks.awsElasticBlockStore, { doc: 'AWS Elastic Block Store volume.' }),
  gitRepo: field(5, gitRepo, { doc: 'Clone of a Git repository. Deprecated.' }),
  secret: field(6, secretVolume, { doc: 'Secret in the same namespace whose keys become files.' }),
  nfs: field(7, shares.nfs, { doc: 'Directory exported by an NFS server.' }),
  iscsi: field(8, inNamespace(iscsiWith, 'ISCSIVolumeSource'), { doc: 'Disk on an iSCSI target.' }),
  glusterfs: field(9, glusterfs, { doc: 'Glusterfs volume.' }),
  persistentVolumeClaim: field(10, claim, { doc: 'Volume bound to a claim in the same namespace.' }),
  rbd: field(11, inNamespace(rbdWith, 'RBDVolumeSource'), { doc: 'Ceph RBD image.' }),
  flexVolume: field(12, inNamespace(systems.flexVolumeWith, 'FlexVolumeSource'), {
    doc: 'Volume managed by a FlexVolume driver that is installed on the node.',
  }),
  cinder: field(13, disks.cinderWith('CinderVolumeSource', namedReference), { doc: 'OpenStack Cinder volume.' }),
  cephfs: field(14, inNamespace(shares.cephfsWith, 'CephFSVolumeSource'), { doc: 'CephFS directory.' }),
  flocker: field(15, systems.flocker, { doc: 'Flocker dataset.' }),
  downwardAPI: field(16, downwardVolume, {
    doc: 'Pod fields and container resources (the downward API) that become files.',
  }),
  fc: field(17, fc, { doc: 'Fibre Channel disk.' }),
  azureFile: field(18, azureFile, { doc: 'Azure Files share.' }),
  configMap: field(19, configMapVolume, { doc: 'ConfigMap in the same namespace whose keys become files.' }),
  vsphereVolume: field(20, disks.vsphereVolume, { doc: 'vSphere virtual disk.' }),
  quobyte: field(21, shares.quobyte, { doc: 'Quobyte volume.' }),
  azureDisk: field(22, disks.azureDisk, { doc: 'Azure data disk.' }),
  photonPersistentDisk: field(23, disks.photonPersistentDisk, { doc: 'Photon Controller persistent disk.' }),
  projected: field(26, projectedVolume, {
    doc: 'Combination of files from Secrets, ConfigMaps, pod fields, service account tokens and other sources.',
  }),
  portworxVolume: field(24, systems.portworxVolume, { doc: 'Portworx volume.' }),
  scaleIO: field(25, inNamespace(systems.scaleIoWith, 'ScaleIOVolumeSource'), { doc: 'ScaleIO volume.' }),
  storageos: field(27, systems.storageOsWith('StorageOSVolumeSource', namedReference), {
    doc: 'StorageOS volume.',
  }),
  csi: field(28, csi, { doc: 'Volume that a CSI driver creates for this pod.' }),
  ephemeral: field(29, ephemeral, { doc: 'Volume whose claim is created and deleted together with the pod.' }),
  image: field(30, imageVolume, {
    since: '1.31',
    gate: 'ImageVolume',
    // If the gate is disabled, the whole volume is dropped instead (see gated-parts.ts).
    gateDrops: 'never',
    doc: 'Content of an image or artifact, mounted as a volume.',
  }),
}

/** The names of all volume sources. If more than one source is set, the first source in this order takes precedence. */
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
  'image',
]

const fields = {
  name: field(1, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Name of the volume, unique within the pod. Must be a DNS label.',
  }),
  ...inlined(2, sources),
}

export type Volume = InferFields<typeof fields>

export const volume = s.object(fields, {
  name: 'Volume',
  doc: 'A named volume that the containers of a pod can mount.',
  choice: { among: sourceNames, noun: 'volume type' },
  fill: (value) => {
    if (!hasVolumeSource(value)) value.emptyDir = {}
  },
  check: ({ name = '', iscsi }, path) => [
    ...(name === '' ? [] : checkDnsLabel(name).map((text) => invalid(child(path, 'name'), name, text))),
    ...(iscsi && !fitsInterface(name, iscsi)
      ? [invalid(child(path, 'name'), name, 'is too long when combined with iscsi.targetPortal')]
      : []),
  ],
})

function hasVolumeSource(value: Volume): boolean {
  return sourceNames.some((name) => value[name] !== undefined)
}

/**
 * Validates the name of a Secret. As clients expect, the error path for a missing name is inside the reference, and the
 * error path for an invalid name is next to the reference.
 */
function checkSecretName(name = '', path: FieldPath): FieldError[] {
  if (name === '') return [required(child(path, 'nodePublishSecretRef.name'))]
  return checkDnsSubdomain(name).map((text) => invalid(child(path, 'name'), name, text))
}

/** Rejects all metadata except labels and annotations, because the claim gets its name and owner from the pod. */
function checkTemplateMetadata(metadata: Infer<typeof objectMeta>, path: FieldPath): FieldError[] {
  const { labels, annotations, ...others } = metadata
  return [
    ...Object.keys(others).map((name) => forbidden(child(path, name), 'cannot be set for an ephemeral volume')),
    ...checkLabels(labels, child(path, 'labels')),
    ...checkAnnotations(annotations, child(path, 'annotations')),
  ]
}

/** Volume: a directory that the containers of a pod can mount, and where its content comes from. */
import { child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { checkAnnotations, checkLabels } from '../../../model/label-rules.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { parseQuantity, quantitySign } from '../../../model/quantity.ts'
import { objectMeta } from '../../../schema/object-meta.ts'
import { field, type Infer, type InferFields, inlined, s } from '../../../schema/schema.ts'
import { persistentVolumeClaimSpec } from './claim-spec.ts'
import { checkDescendingPath } from './file-paths.ts'
import { localObjectReference } from './local-references.ts'
import { configMapVolume, downwardVolume, projectedVolume, secretVolume } from './projected-files.ts'
import { fc, iscsiWith, rbdWith } from './volumes/block-devices.ts'
import * as disks from './volumes/cloud-disks.ts'
import * as shares from './volumes/file-shares.ts'
import { hostPath } from './volumes/host-path.ts'
import * as systems from './volumes/storage-systems.ts'

const emptyDir = s.object(
  { medium: field(1, s.string()), sizeLimit: field(2, s.quantity(), { zero: 'keep' }) },
  {
    name: 'EmptyDirVolumeSource',
    doc: 'A directory that is empty at first and goes with the pod.',
    check: ({ sizeLimit = '0' }, path) =>
      quantitySign(parseQuantity(sizeLimit)!) < 0 ? [forbidden(child(path, 'sizeLimit'), 'must not be negative')] : [],
  },
)

const gitRepo = s.object(
  {
    repository: field(1, s.string(), { zero: 'write', required: true }),
    revision: field(2, s.string()),
    directory: field(3, s.string()),
  },
  {
    name: 'GitRepoVolumeSource',
    doc: 'A clone of a repository. Deprecated: clone into an emptyDir from an init container.',
    check: ({ directory = '' }, path) => checkDescendingPath(directory, child(path, 'directory')),
  },
)

const glusterfs = s.object(
  {
    endpoints: field(1, s.string(), { zero: 'write', required: true }),
    path: field(2, s.string(), { zero: 'write', required: true }),
    readOnly: field(3, s.boolean()),
  },
  { name: 'GlusterfsVolumeSource', doc: 'A volume of Glusterfs.' },
)

const claim = s.object(
  { claimName: field(1, s.string(), { zero: 'write', required: true }), readOnly: field(2, s.boolean()) },
  { name: 'PersistentVolumeClaimVolumeSource', doc: 'The volume that a claim in the same namespace is bound to.' },
)

const azureFile = s.object(
  {
    secretName: field(1, s.string(), { zero: 'write', required: true }),
    shareName: field(2, s.string(), { zero: 'write', required: true }),
    readOnly: field(3, s.boolean()),
  },
  { name: 'AzureFileVolumeSource', doc: 'A share of Azure.' },
)

const csi = s.object(
  {
    driver: field(1, s.string(), { zero: 'write' }),
    readOnly: field(2, s.boolean(), { zero: 'keep' }),
    fsType: field(3, s.string(), { zero: 'keep' }),
    volumeAttributes: field(4, s.map(s.string())),
    nodePublishSecretRef: field(5, localObjectReference),
  },
  {
    name: 'CSIVolumeSource',
    doc: 'A volume that a driver makes for the pod alone.',
    check: ({ driver = '', nodePublishSecretRef: secret }, path) => [
      ...shared.checkDriverName(driver, child(path, 'driver')),
      ...(secret ? checkSecretName(secret.name ?? '', child(path, 'name')) : []),
    ],
  },
)

const templateFields = {
  metadata: field(1, objectMeta, { zero: 'write' }),
  spec: field(2, persistentVolumeClaimSpec, { zero: 'write' }),
}

const claimTemplate = s.object(templateFields, {
  name: 'PersistentVolumeClaimTemplate',
  doc: 'The claim that is made for the pod.',
  check: ({ metadata = {} }, path) => checkTemplateMetadata(metadata, child(path, 'metadata')),
})

const ephemeral = s.object(
  { volumeClaimTemplate: field(1, claimTemplate, { required: true }) },
  { name: 'EphemeralVolumeSource', doc: 'A volume whose claim is made with the pod and goes with it.' },
)

/** In the order in which they count where there is more than one. */
const sources = {
  emptyDir: field(2, emptyDir),
  hostPath: field(1, shared.hostPath),
  gitRepo: field(5, gitRepo),
  gcePersistentDisk: field(3, shared.gcePersistentDisk),
  awsElasticBlockStore: field(4, shared.awsElasticBlockStore),
  secret: field(6, secretVolume),
  nfs: field(7, shared.nfs),
  iscsi: field(8, shared.iscsiWith(localObjectReference)),
  glusterfs: field(9, glusterfs),
  flocker: field(15, shared.flocker),
  persistentVolumeClaim: field(10, claim),
  rbd: field(11, shared.rbdWith(localObjectReference)),
  cinder: field(13, shared.cinderWith(localObjectReference)),
  cephfs: field(14, shared.cephfsWith(localObjectReference)),
  quobyte: field(21, shared.quobyte),
  downwardAPI: field(16, downwardVolume),
  fc: field(17, shared.fc),
  flexVolume: field(12, shared.flexVolumeWith(localObjectReference)),
  configMap: field(19, configMapVolume),
  azureFile: field(18, azureFile),
  vsphereVolume: field(20, shared.vsphereVolume),
  photonPersistentDisk: field(23, shared.photonPersistentDisk),
  portworxVolume: field(24, shared.portworxVolume),
  azureDisk: field(22, shared.azureDisk),
  storageos: field(27, shared.storageOsWith(localObjectReference)),
  projected: field(26, projectedVolume),
  scaleIO: field(25, shared.scaleIoWith(localObjectReference)),
  csi: field(28, csi),
  ephemeral: field(29, ephemeral),
}

const sourceNames = Object.keys(sources) as (keyof typeof sources)[]

const fields = { name: field(1, s.string(), { zero: 'write', required: true }), ...inlined(2, sources) }

export type Volume = InferFields<typeof fields>

export const volume = s.object(fields, {
  name: 'Volume',
  doc: 'A directory for the containers of a pod, by name.',
  choice: { among: sourceNames, noun: 'volume type' },
  fill: (value) => {
    if (sourceNames.every((name) => value[name] === undefined)) value.emptyDir = {}
  },
  check: ({ name = '' }, path) =>
    name === '' ? [] : checkDnsLabel(name).map((text) => invalid(child(path, 'name'), name, text)),
})

function checkSecretName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)]
  return checkDnsSubdomain(name).map((text) => invalid(path, name, text))
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

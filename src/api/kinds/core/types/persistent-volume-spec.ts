/**
 * PersistentVolumeSpec contains the properties and the source of a piece of storage. Exactly one source must be set.
 * Most sources are also volume sources of Pods, but a PersistentVolume may refer to Secrets in any namespace.
 */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { field, type Infer, inlined, s } from '../../../schema/schema.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { accessModes, checkAccessModes } from './access-modes.ts'
import { nodeSelector } from './node-selector.ts'
import { granularObjectReference, objectReference, secretReference } from './references.ts'
import { resourceList, roundResources } from './resource-list.ts'
import { fc, iscsiWith, rbdWith } from './volumes/block-devices.ts'
import {
  awsElasticBlockStore,
  azureDisk,
  cinderWith,
  gcePersistentDisk,
  photonPersistentDisk,
  vsphereVolume,
} from './volumes/cloud-disks.ts'
import { flag, fsType, requiredText } from './volumes/fields.ts'
import { azureFileFields, cephfsWith, glusterfsFields, nfs, quobyte } from './volumes/file-shares.ts'
import { checkNoBacksteps, hostPath } from './volumes/host-path.ts'
import {
  checkDriverName,
  flexVolumeWith,
  flocker,
  portworxVolume,
  scaleIoWith,
  storageOsWith,
} from './volumes/storage-systems.ts'

const glusterfs = s.object(
  {
    ...glusterfsFields,
    endpointsNamespace: field(4, s.string(), {
      zeroValue: 'keep',
      doc: "Namespace of the Endpoints object. Defaults to the claim's namespace.",
    }),
  },
  {
    name: 'GlusterfsPersistentVolumeSource',
    doc: 'A Glusterfs volume.',
    check: ({ endpointsNamespace: name }, path) =>
      name === undefined
        ? []
        : checkDnsLabel(name).map((fault) => invalid(child(path, 'endpointsNamespace'), name, fault)),
  },
)

const azureFile = s.object(
  {
    ...azureFileFields,
    secretNamespace: field(4, s.string(), {
      zeroValue: 'keep',
      doc: "Namespace of the Secret. Defaults to the pod's namespace.",
    }),
  },
  {
    name: 'AzureFilePersistentVolumeSource',
    doc: 'An Azure Files share.',
    check: ({ secretNamespace }, path) => (secretNamespace === '' ? [required(child(path, 'secretNamespace'))] : []),
  },
)

const local = s.object(
  {
    path: requiredText(1, 'Absolute path of a directory or block device on the node. Must not contain `..`.'),
    fsType: field(2, s.string(), {
      zeroValue: 'keep',
      doc: 'Type of the file system to create if the path is an unformatted block device.',
    }),
  },
  {
    name: 'LocalVolumeSource',
    doc: 'Storage attached directly to one node.',
    check: ({ path = '' }, place) => checkNoBacksteps(path, child(place, 'path')),
  },
)

const storageOsSecret = s.object(objectReference.fields, {
  ...objectReference,
  check: ({ name, namespace }, path) => [
    ...(name ? [] : [required(child(path, 'name'))]),
    ...(namespace ? [] : [required(child(path, 'namespace'))]),
  ],
})

const fullSecret = secretReference({ name: true, namespace: true })

const csi = s.object(
  {
    driver: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the CSI driver. At most 63 characters.' }),
    volumeHandle: requiredText(2, 'ID of the volume in the storage system.'),
    readOnly: flag(3, 'Whether the volume is read-only.'),
    fsType: fsType(4),
    volumeAttributes: field(5, s.map(s.string()), {
      doc: 'Attributes to pass to the driver when it publishes the volume.',
    }),
    controllerPublishSecretRef: field(6, fullSecret, {
      doc: 'Secret that the CSI driver uses when it attaches the volume to a node.',
    }),
    nodeStageSecretRef: field(7, secretReference(), {
      doc: 'Secret that the CSI driver uses when it stages the volume on a node.',
    }),
    nodePublishSecretRef: field(8, fullSecret, {
      doc: 'Secret that the CSI driver uses when it publishes the volume to a pod.',
    }),
    controllerExpandSecretRef: field(9, fullSecret, {
      doc: 'Secret that the CSI driver uses when it expands the volume.',
    }),
    nodeExpandSecretRef: field(10, fullSecret, {
      since: '1.25',
      gate: 'CSINodeExpandSecret',
      doc: 'Secret that the CSI driver uses when it expands the volume on a node.',
    }),
  },
  {
    name: 'CSIPersistentVolumeSource',
    doc: 'A volume that a CSI driver manages.',
    check: (source, path, context) => [
      ...checkDriverName(source.driver ?? '', child(path, 'driver'), context),
      ...validatedSecrets.flatMap((name) => checkSecret(source[name] ?? {}, child(path, name), context)),
    ],
  },
)

const validatedSecrets = [
  'controllerPublishSecretRef',
  'nodePublishSecretRef',
  'controllerExpandSecretRef',
  'nodeExpandSecretRef',
] as const

/**
 * Validates a reference to a Secret. Since 1.25, the name may be a subdomain. Before 1.25, the name had to be a label,
 * and the path of errors in the namespace was next to the reference instead of inside it.
 */
function checkSecret(
  { name, namespace }: Infer<typeof fullSecret>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const isRelaxed = isAtLeast(emulationOf(context).version, '1.25')
  const checkName = isRelaxed ? checkDnsSubdomain : checkDnsLabel
  const namespacePath = child(isRelaxed ? path : path.slice(0, path.lastIndexOf('.')), 'namespace')
  return [
    ...(name ? checkName(name) : []).map((fault) => invalid(child(path, 'name'), name, fault)),
    ...(namespace ? checkDnsLabel(namespace) : []).map((fault) => invalid(namespacePath, namespace, fault)),
  ]
}

const sources = {
  gcePersistentDisk: field(1, gcePersistentDisk, { doc: 'Google Compute Engine persistent disk.' }),
  awsElasticBlockStore: field(2, awsElasticBlockStore, { doc: 'AWS Elastic Block Store volume.' }),
  hostPath: field(3, hostPath, {
    doc: 'Directory on the node. Only for tests on a single-node cluster.',
  }),
  glusterfs: field(4, glusterfs, { doc: 'Glusterfs volume.' }),
  nfs: field(5, nfs, { doc: 'Directory exported by an NFS server.' }),
  rbd: field(6, rbdWith('RBDPersistentVolumeSource', secretReference()), { doc: 'Ceph RBD image.' }),
  iscsi: field(7, iscsiWith('ISCSIPersistentVolumeSource', secretReference({ name: true })), {
    doc: 'Disk on an iSCSI target.',
  }),
  cinder: field(8, cinderWith('CinderPersistentVolumeSource', fullSecret), { doc: 'OpenStack Cinder volume.' }),
  cephfs: field(9, cephfsWith('CephFSPersistentVolumeSource', secretReference()), { doc: 'CephFS directory.' }),
  fc: field(10, fc, { doc: 'Fibre Channel disk.' }),
  flocker: field(11, flocker, { doc: 'Flocker dataset.' }),
  flexVolume: field(12, flexVolumeWith('FlexPersistentVolumeSource', secretReference()), {
    doc: 'Volume managed by a FlexVolume driver that is installed on the node.',
  }),
  azureFile: field(13, azureFile, { doc: 'Azure Files share.' }),
  vsphereVolume: field(14, vsphereVolume, { doc: 'vSphere virtual disk.' }),
  quobyte: field(15, quobyte, { doc: 'Quobyte volume.' }),
  azureDisk: field(16, azureDisk, { doc: 'Azure data disk.' }),
  photonPersistentDisk: field(17, photonPersistentDisk, { doc: 'Photon Controller persistent disk.' }),
  portworxVolume: field(18, portworxVolume, { doc: 'Portworx volume.' }),
  scaleIO: field(19, scaleIoWith('ScaleIOPersistentVolumeSource', secretReference()), { doc: 'ScaleIO volume.' }),
  local: field(20, local, { doc: 'Storage attached directly to one node. Requires `nodeAffinity`.' }),
  storageos: field(21, storageOsWith('StorageOSPersistentVolumeSource', storageOsSecret), {
    doc: 'StorageOS volume.',
  }),
  csi: field(22, csi, { doc: 'Volume managed by a CSI driver.' }),
}

/** The names of all volume sources. If more than one source is set, the first source in this order takes precedence. */
export const sourceNames: readonly (keyof typeof sources)[] = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
]

const nodeAffinity = s.object(
  {
    required: field(1, nodeSelector, {
      required: true,
      published: 'optional',
      doc: 'Nodes from which the volume is accessible.',
    }),
  },
  { name: 'VolumeNodeAffinity', doc: 'Nodes from which a volume is accessible.' },
)

export const persistentVolumeSpec = s.object(
  {
    capacity: field(1, resourceList, {
      doc: 'Storage capacity of the volume. The only allowed resource is `storage`.',
    }),
    ...inlined(2, sources),
    accessModes: field(3, accessModes, {
      required: true,
      published: 'optional',
      doc: 'Access modes that the volume supports: `ReadWriteOnce` (one node), `ReadOnlyMany` or `ReadWriteMany` (many nodes). At least one is required.',
    }),
    claimRef: field(4, granularObjectReference, {
      earlier: { until: '1.24', schema: objectReference },
      doc: 'Claim to which the volume is bound. Set when the volume is bound.',
    }),
    persistentVolumeReclaimPolicy: field(5, s.oneOf('Delete', 'Recycle', 'Retain'), {
      doc: 'What to do with the volume after its claim is deleted: `Retain`, `Delete` or `Recycle` (erase the data for reuse). Defaults to `Retain`.',
    }),
    storageClassName: field(6, s.string(), {
      doc: "Name of the volume's StorageClass. Empty if the volume does not belong to a class.",
    }),
    mountOptions: field(7, s.list(s.string()), {
      doc: 'Mount options, such as `ro`. The server does not validate the options.',
    }),
    volumeMode: field(8, s.oneOf('Block', 'Filesystem'), {
      zeroValue: 'keep',
      doc: 'Whether the volume is used with a file system (`Filesystem`) or as a raw block device (`Block`). Defaults to `Filesystem`.',
    }),
    nodeAffinity: field(9, nodeAffinity, {
      doc: 'Nodes from which the volume is accessible. If unset, the volume is accessible from all nodes. Immutable once set.',
    }),
    volumeAttributesClassName: field(10, s.string(), {
      zeroValue: 'keep',
      since: '1.29',
      gate: 'VolumeAttributesClass',
      doc: "Name of the volume's VolumeAttributesClass.",
    }),
  },
  {
    name: 'core.v1.PersistentVolumeSpec',
    doc: 'Specification of a PersistentVolume.',
    choice: { among: sourceNames, noun: 'volume type' },
    fill: ({ capacity }) => roundResources(capacity),
    check: (spec, path, context) => {
      const { storageClassName: name, nodeAffinity } = spec
      const nameFaults = name ? checkDnsSubdomain(name) : []
      return [
        ...checkAccessModes(spec.accessModes, child(path, 'accessModes'), context),
        ...nameFaults.map((fault) => invalid(child(path, 'storageClassName'), name, fault)),
        ...(isLocal(spec) && !nodeAffinity ? [nodesNeeded(path)] : []),
        ...checkAttributesClass(spec, path),
      ]
    },
  },
)

export type PersistentVolumeSpec = Infer<typeof persistentVolumeSpec>

/** The spec of a volume inside another object. Fields that only a PersistentVolume may have are not validated. */
export const inlineVolumeSpec: typeof persistentVolumeSpec = {
  ...persistentVolumeSpec,
  fieldsToSkip: () => ['nodeAffinity', 'persistentVolumeReclaimPolicy', 'volumeMode'],
  check: (spec, path, context) => [
    ...checkAccessModes(spec.accessModes, child(path, 'accessModes'), context),
    ...(isLocal(spec) ? [nodesNeeded(path)] : []),
  ],
}

/** Rejects a volume attributes class for volumes without a CSI driver. */
function checkAttributesClass(
  { volumeAttributesClassName: name, csi }: { volumeAttributesClassName?: string; csi?: unknown },
  path: FieldPath,
): FieldError[] {
  if (name === undefined) return []
  const place = child(path, 'volumeAttributesClassName')
  return [
    ...(name === '' ? [required(place, 'an empty string is disallowed')] : []),
    ...(name === '' ? [] : checkDnsSubdomain(name)).map((fault) => invalid(place, name, fault)),
    ...(csi ? [] : [required(child(path, 'csi'), 'has to be specified when using volumeAttributesClassName')]),
  ]
}

function isLocal(spec: { readonly [source: string]: unknown }): boolean {
  return sourceNames.find((source) => spec[source]) === 'local'
}

function nodesNeeded(path: FieldPath): FieldError {
  return required(child(path, 'nodeAffinity'), 'a local volume requires node affinity')
}

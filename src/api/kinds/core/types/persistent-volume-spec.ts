/**
 * PersistentVolumeSpec: a piece of storage, what it offers and where it is. Exactly one source says where; most are
 * those of volumes in Pods, with Secrets from any namespace.
 */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { field, type Infer, inlined, s } from '../../../schema/schema.ts'
import { accessModes, checkAccessModes } from './access-modes.ts'
import { nodeSelector } from './node-selector.ts'
import { objectReference, secretReference } from './references.ts'
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
      zero: 'keep',
      doc: 'The namespace of the Endpoints; that of the claim if unset.',
    }),
  },
  {
    name: 'GlusterfsPersistentVolumeSource',
    doc: 'A volume of Glusterfs.',
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
      zero: 'keep',
      doc: 'The namespace of the Secret; that of the pod if unset.',
    }),
  },
  {
    name: 'AzureFilePersistentVolumeSource',
    doc: 'A share of Azure.',
    check: ({ secretNamespace }, path) => (secretNamespace === '' ? [required(child(path, 'secretNamespace'))] : []),
  },
)

const local = s.object(
  {
    path: requiredText(1, 'The directory or device on the node, from the root.'),
    fsType: field(2, s.string(), { zero: 'keep', doc: 'The file system to make if it is a device that has none.' }),
  },
  {
    name: 'LocalVolumeSource',
    doc: 'Storage that is attached to one node.',
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
    driver: field(1, s.string(), { zero: 'write', doc: 'The name of the driver.' }),
    volumeHandle: requiredText(2, 'What the driver knows the volume by.'),
    readOnly: flag(3, 'Whether it can only be read.'),
    fsType: fsType(4),
    volumeAttributes: field(5, s.map(s.string()), { doc: 'Attributes for the driver.' }),
    controllerPublishSecretRef: field(6, fullSecret, { doc: 'The Secret to attach it to a node with.' }),
    nodeStageSecretRef: field(7, secretReference(), { doc: 'The Secret to prepare it on a node with.' }),
    nodePublishSecretRef: field(8, fullSecret, { doc: 'The Secret to mount it for a pod with.' }),
    controllerExpandSecretRef: field(9, fullSecret, { doc: 'The Secret to grow it with.' }),
  },
  {
    name: 'CSIPersistentVolumeSource',
    doc: 'A volume of a driver of the Container Storage Interface.',
    check: (source, path) => [
      ...checkDriverName(source.driver ?? '', child(path, 'driver')),
      ...(['controllerPublishSecretRef', 'nodePublishSecretRef', 'controllerExpandSecretRef'] as const).flatMap(
        (name) => checkSecret(source[name] ?? {}, path, name),
      ),
    ],
  },
)

/** A malformed namespace is reported beside the reference, not in it, as clients expect. */
function checkSecret({ name, namespace }: Infer<typeof fullSecret>, path: FieldPath, reference: string): FieldError[] {
  const nameFaults = name ? checkDnsLabel(name) : []
  const namespaceFaults = namespace ? checkDnsLabel(namespace) : []
  return [
    ...nameFaults.map((fault) => invalid(child(child(path, reference), 'name'), name, fault)),
    ...namespaceFaults.map((fault) => invalid(child(path, 'namespace'), namespace, fault)),
  ]
}

const sources = {
  gcePersistentDisk: field(1, gcePersistentDisk, { doc: 'A disk of Google Compute Engine.' }),
  awsElasticBlockStore: field(2, awsElasticBlockStore, { doc: 'A disk of the AWS Elastic Block Store.' }),
  hostPath: field(3, hostPath, { doc: 'A directory of the node. For clusters of one node, and for tests.' }),
  glusterfs: field(4, glusterfs, { doc: 'A volume of Glusterfs.' }),
  nfs: field(5, nfs, { doc: 'A directory of an NFS server.' }),
  rbd: field(6, rbdWith('RBDPersistentVolumeSource', secretReference()), { doc: 'An image of Ceph.' }),
  iscsi: field(7, iscsiWith('ISCSIPersistentVolumeSource', secretReference({ name: true })), {
    doc: 'A device of an iSCSI target.',
  }),
  cinder: field(8, cinderWith('CinderPersistentVolumeSource', fullSecret), { doc: 'A disk of Cinder.' }),
  cephfs: field(9, cephfsWith('CephFSPersistentVolumeSource', secretReference()), { doc: 'A directory of CephFS.' }),
  fc: field(10, fc, { doc: 'A device on Fibre Channel.' }),
  flocker: field(11, flocker, { doc: 'A dataset of Flocker.' }),
  flexVolume: field(12, flexVolumeWith('FlexPersistentVolumeSource', secretReference()), {
    doc: 'A volume of a driver that is installed on the node.',
  }),
  azureFile: field(13, azureFile, { doc: 'A share of Azure.' }),
  vsphereVolume: field(14, vsphereVolume, { doc: 'A disk of vSphere.' }),
  quobyte: field(15, quobyte, { doc: 'A volume of Quobyte.' }),
  azureDisk: field(16, azureDisk, { doc: 'A disk of Azure.' }),
  photonPersistentDisk: field(17, photonPersistentDisk, { doc: 'A disk of the Photon controller.' }),
  portworxVolume: field(18, portworxVolume, { doc: 'A volume of Portworx.' }),
  scaleIO: field(19, scaleIoWith('ScaleIOPersistentVolumeSource', secretReference()), { doc: 'A volume of ScaleIO.' }),
  local: field(20, local, { doc: 'Storage that is attached to one node; nodeAffinity says which.' }),
  storageos: field(21, storageOsWith('StorageOSPersistentVolumeSource', storageOsSecret), {
    doc: 'A volume of StorageOS.',
  }),
  csi: field(22, csi, { doc: 'A volume of a driver of the Container Storage Interface.' }),
}

/** In the order in which they count where there is more than one. */
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
      doc: 'The nodes that can reach the volume.',
    }),
  },
  { name: 'VolumeNodeAffinity', doc: 'From which nodes a volume can be used.' },
)

export const persistentVolumeSpec = s.object(
  {
    capacity: field(1, resourceList, { doc: 'How much it holds, as `storage`.' }),
    ...inlined(2, sources),
    accessModes: field(3, accessModes, {
      required: true,
      published: 'optional',
      doc: 'How it can be mounted: ReadWriteOnce by one node, ReadOnlyMany or ReadWriteMany by many.',
    }),
    claimRef: field(4, objectReference, { doc: 'The claim that it is bound to. Set when it is bound.' }),
    persistentVolumeReclaimPolicy: field(5, s.oneOf('Delete', 'Recycle', 'Retain'), {
      doc: 'What becomes of it when its claim is gone: Retain keeps it, Delete deletes it with its data, Recycle empties it.',
    }),
    storageClassName: field(6, s.string(), { doc: 'The class it belongs to; empty: none.' }),
    mountOptions: field(7, s.list(s.string()), { doc: 'Mount options, such as `ro`. They are not checked.' }),
    volumeMode: field(8, s.oneOf('Block', 'Filesystem'), {
      zero: 'keep',
      doc: 'Whether it is used as a Filesystem, the default, or as a raw Block device.',
    }),
    nodeAffinity: field(9, nodeAffinity, {
      doc: 'The nodes it can be used from; any if unset. Cannot change once set.',
    }),
  },
  {
    name: 'core.v1.PersistentVolumeSpec',
    doc: 'What a volume offers and where it is.',
    choice: { among: sourceNames, noun: 'volume type' },
    fill: ({ capacity }) => roundResources(capacity),
    check: (spec, path) => {
      const { storageClassName: name, nodeAffinity } = spec
      const nameFaults = name ? checkDnsSubdomain(name) : []
      return [
        ...checkAccessModes(spec.accessModes, child(path, 'accessModes')),
        ...nameFaults.map((fault) => invalid(child(path, 'storageClassName'), name, fault)),
        ...(isLocal(spec) && !nodeAffinity ? [nodesNeeded(path)] : []),
      ]
    },
  },
)

export type PersistentVolumeSpec = Infer<typeof persistentVolumeSpec>

/** A volume that stands in another object: of what it may not say there at all, nothing else is judged. */
export const inlineVolumeSpec: typeof persistentVolumeSpec = {
  ...persistentVolumeSpec,
  leavesUnjudged: () => ['nodeAffinity', 'persistentVolumeReclaimPolicy', 'volumeMode'],
  check: (spec, path) => [
    ...checkAccessModes(spec.accessModes, child(path, 'accessModes')),
    ...(isLocal(spec) ? [nodesNeeded(path)] : []),
  ],
}

function isLocal(spec: { readonly [source: string]: unknown }): boolean {
  return sourceNames.find((source) => spec[source]) === 'local'
}

function nodesNeeded(path: FieldPath): FieldError {
  return required(child(path, 'nodeAffinity'), 'a local volume needs its nodes')
}

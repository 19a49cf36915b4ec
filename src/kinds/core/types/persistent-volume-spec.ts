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
import {
  awsElasticBlockStore,
  azureDisk,
  cephfsWith,
  checkDriverName,
  checkNoBacksteps,
  cinderWith,
  fc,
  flexVolumeWith,
  flocker,
  gcePersistentDisk,
  hostPath,
  iscsiWith,
  nfs,
  photonPersistentDisk,
  portworxVolume,
  quobyte,
  rbdWith,
  scaleIoWith,
  storageOsWith,
  vsphereVolume,
} from './volume-source.ts'

const glusterfs = s.object(
  {
    endpoints: field(1, s.string(), { required: true }),
    path: field(2, s.string(), { required: true }),
    readOnly: field(3, s.boolean()),
    endpointsNamespace: field(4, s.string(), { zero: 'keep' }),
  },
  {
    check: ({ endpointsNamespace: name }, path) =>
      name === undefined
        ? []
        : checkDnsLabel(name).map((fault) => invalid(child(path, 'endpointsNamespace'), name, fault)),
  },
)

const azureFile = s.object(
  {
    secretName: field(1, s.string(), { required: true }),
    shareName: field(2, s.string(), { required: true }),
    readOnly: field(3, s.boolean()),
    secretNamespace: field(4, s.string(), { zero: 'keep' }),
  },
  {
    check: ({ secretNamespace }, path) => (secretNamespace === '' ? [required(child(path, 'secretNamespace'))] : []),
  },
)

const local = s.object(
  { path: field(1, s.string(), { required: true }), fsType: field(2, s.string(), { zero: 'keep' }) },
  { check: ({ path = '' }, place) => checkNoBacksteps(path, child(place, 'path')) },
)

const storageOsSecret = s.object(objectReference.fields, {
  atomic: true,
  check: ({ name, namespace }, path) => [
    ...(name ? [] : [required(child(path, 'name'))]),
    ...(namespace ? [] : [required(child(path, 'namespace'))]),
  ],
})

const fullSecret = secretReference({ name: true, namespace: true })

const csi = s.object(
  {
    driver: field(1, s.string()),
    volumeHandle: field(2, s.string(), { required: true }),
    readOnly: field(3, s.boolean()),
    fsType: field(4, s.string()),
    volumeAttributes: field(5, s.map(s.string())),
    controllerPublishSecretRef: field(6, fullSecret),
    nodeStageSecretRef: field(7, secretReference()),
    nodePublishSecretRef: field(8, fullSecret),
    controllerExpandSecretRef: field(9, fullSecret),
  },
  {
    check: (source, path) => [
      ...checkDriverName(source.driver ?? '', child(path, 'driver')),
      ...(['controllerPublishSecretRef', 'nodePublishSecretRef', 'controllerExpandSecretRef'] as const).flatMap(
        (name) => checkSecret(source[name] ?? {}, path, name),
      ),
    ],
  },
)

/** A malformed namespace is told beside the reference, not in it: clients of this field are used to that. */
function checkSecret({ name, namespace }: Infer<typeof fullSecret>, path: FieldPath, reference: string): FieldError[] {
  const nameFaults = name ? checkDnsLabel(name) : []
  const namespaceFaults = namespace ? checkDnsLabel(namespace) : []
  return [
    ...nameFaults.map((fault) => invalid(child(child(path, reference), 'name'), name, fault)),
    ...namespaceFaults.map((fault) => invalid(child(path, 'namespace'), namespace, fault)),
  ]
}

/** In the order in which they count where there is more than one. */
const sources = {
  hostPath: field(3, hostPath),
  gcePersistentDisk: field(1, gcePersistentDisk),
  awsElasticBlockStore: field(2, awsElasticBlockStore),
  glusterfs: field(4, glusterfs),
  flocker: field(11, flocker),
  nfs: field(5, nfs),
  rbd: field(6, rbdWith(secretReference())),
  quobyte: field(15, quobyte),
  cephfs: field(9, cephfsWith(secretReference())),
  iscsi: field(7, iscsiWith(secretReference({ name: true }))),
  cinder: field(8, cinderWith(fullSecret)),
  fc: field(10, fc),
  flexVolume: field(12, flexVolumeWith(secretReference())),
  azureFile: field(13, azureFile),
  vsphereVolume: field(14, vsphereVolume),
  photonPersistentDisk: field(17, photonPersistentDisk),
  portworxVolume: field(18, portworxVolume),
  azureDisk: field(16, azureDisk),
  scaleIO: field(19, scaleIoWith(secretReference())),
  local: field(20, local),
  storageos: field(21, storageOsWith(storageOsSecret)),
  csi: field(22, csi),
}

export const sourceNames = Object.keys(sources) as (keyof typeof sources)[]

export const persistentVolumeSpec = s.object(
  {
    capacity: field(1, resourceList),
    ...inlined(2, sources),
    accessModes: field(3, accessModes, { required: true }),
    claimRef: field(4, objectReference),
    persistentVolumeReclaimPolicy: field(5, s.oneOf('Delete', 'Recycle', 'Retain')),
    storageClassName: field(6, s.string()),
    mountOptions: field(7, s.list(s.string())),
    volumeMode: field(8, s.oneOf('Block', 'Filesystem'), { zero: 'keep' }),
    nodeAffinity: field(9, s.object({ required: field(1, nodeSelector, { required: true }) })),
  },
  {
    choice: { among: sourceNames, noun: 'volume type' },
    fill: ({ capacity }) => roundResources(capacity),
    check: (spec, path) => {
      const { accessModes: modes, storageClassName: name, nodeAffinity } = spec
      const isLocal = sourceNames.find((source) => spec[source]) === 'local'
      return [
        ...checkAccessModes(modes, child(path, 'accessModes')),
        ...(name ? checkDnsSubdomain(name) : []).map((fault) => invalid(child(path, 'storageClassName'), name, fault)),
        ...(isLocal && !nodeAffinity ? [required(child(path, 'nodeAffinity'), 'a local volume needs its nodes')] : []),
      ]
    },
  },
)

export type PersistentVolumeSpec = Infer<typeof persistentVolumeSpec>

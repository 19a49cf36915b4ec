/** Tests rules for volumes, claims and storage kinds that later Kubernetes versions added or changed. */
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { type Row, testRows } from '../../support/version-rows.ts'

const { groupDomain: group, keyDomain } = vendorOf('kubernetes')
const volumes = '/api/v1/persistentvolumes'
const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const storage = (plural: string) => `/apis/storage.${group}/v1/${plural}`

const csi = { driver: 'd.example', volumeHandle: 'h' }
const volume = (spec: object) => ({
  path: volumes,
  body: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi, ...spec } },
})
const claim = (spec: object) => ({
  path: claims,
  body: {
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'sc',
      resources: { requests: { storage: '1Gi' } },
      ...spec,
    },
  },
})
const driver = (spec: object) => ({ path: storage('csidrivers'), body: { spec } })
const bound = { phase: 'Bound', capacity: { storage: '1Gi' } }
const onLabel = (key: string) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] } },
})
const vac = 'volumeAttributesClassName'

const newest: Row[] = [
  { name: 'a volume may be for a single pod', ...volume({ accessModes: ['ReadWriteOncePod'] }) },
  {
    name: 'the mode for a single pod excludes others',
    ...volume({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }),
    causes: ['Forbidden spec.accessModes'],
  },
  {
    name: 'a class of attributes needs CSI',
    ...volume({ csi: undefined, nfs: { server: 's', path: '/' }, [vac]: 'g' }),
    causes: ['Required spec.csi'],
  },
  { name: 'a class of attributes has a name', ...volume({ [vac]: '' }), causes: [`Required spec.${vac}`] },
  {
    name: 'a volume keeps its class',
    ...volume({ [vac]: 'g' }),
    patch: { spec: { [vac]: null } },
    causes: [`Forbidden spec.${vac}`],
  },
  {
    name: 'a secret needs a namespace',
    ...volume({ csi: { ...csi, nodeExpandSecretRef: { name: 's' } } }),
    causes: ['Required spec.csi.nodeExpandSecretRef.namespace'],
  },
  {
    name: 'a secret may have a name with dots',
    ...volume({ csi: { ...csi, controllerExpandSecretRef: { name: 'a.b', namespace: 'n' } } }),
  },
  {
    name: 'a missing driver has one cause',
    ...volume({ csi: { volumeHandle: 'h' } }),
    causes: ['Required spec.csi.driver'],
  },
  { name: 'Recycle is deprecated', ...volume({ persistentVolumeReclaimPolicy: 'Recycle' }), warnings: 1 },
  { name: 'removed sources warn', ...volume({ csi: undefined, cephfs: { monitors: ['m'] } }), warnings: 1 },
  {
    name: 'a deprecated label may be replaced',
    ...volume(onLabel(`failure-domain.beta.${keyDomain}/zone`)),
    patch: { spec: onLabel(`topology.${keyDomain}/zone`) },
  },
  {
    name: 'other node labels stay',
    ...volume(onLabel('a')),
    patch: { spec: onLabel('b') },
    causes: ['Invalid spec.nodeAffinity'],
  },
  {
    name: 'a bound claim may change its class',
    ...claim({ volumeName: 'v', [vac]: 'g' }),
    status: { status: bound },
    patch: { spec: { [vac]: 's' } },
    shows: { [`spec.${vac}`]: 's' },
  },
  {
    name: 'a claim keeps the class of its volume',
    ...claim({ volumeName: 'v', [vac]: 'g' }),
    status: { status: { ...bound, currentVolumeAttributesClassName: 'g' } },
    patch: { spec: { [vac]: null } },
    causes: [`Forbidden spec.${vac}`],
  },
  {
    name: 'an unbound claim keeps its class',
    ...claim({ [vac]: 'g' }),
    patch: { spec: { [vac]: 's' } },
    causes: ['Forbidden spec'],
  },
  {
    name: 'a claim without class may get one',
    ...claim({ storageClassName: undefined }),
    patch: { spec: { storageClassName: 'x' } },
    shows: { 'spec.storageClassName': 'x' },
  },
  {
    name: 'an empty class stays',
    ...claim({ storageClassName: '' }),
    patch: { spec: { storageClassName: 'x' } },
    causes: ['Forbidden spec'],
  },
  {
    name: 'a foreign data source is dropped',
    ...claim({ dataSourceRef: { kind: 'PersistentVolumeClaim', name: 's', namespace: 'o' } }),
    shows: { 'spec.dataSourceRef': undefined },
  },
  {
    name: 'the group of a data source is checked',
    ...claim({ dataSourceRef: { apiGroup: 'A B', kind: 'X', name: 's' } }),
    causes: ['Invalid spec.dataSource.apiGroup', 'Invalid spec.dataSourceRef.apiGroup'],
  },
  { name: 'a fraction of a byte warns', ...claim({ resources: { requests: { storage: '0.5' } } }), warnings: 1 },
  {
    name: 'the states of a resize are known',
    ...claim({}),
    patch: { status: { allocatedResourceStatuses: { storage: 'Odd' } } },
    subresource: '/status',
    causes: ['NotSupported status.allocatedResourceStatuses'],
  },
  {
    name: 'foreign resources may be resized',
    ...claim({}),
    patch: { status: { allocatedResourceStatuses: { 'example.com/a': 'NodeResizePending' } } },
    subresource: '/status',
  },
  {
    name: 'native resources are not resized',
    ...claim({}),
    patch: { status: { allocatedResources: { cpu: '1' } } },
    subresource: '/status',
    causes: ['NotSupported status.allocatedResources'],
  },
  {
    name: 'a driver has an SELinux default',
    ...driver({}),
    shows: { 'spec.seLinuxMount': false, 'metadata.generation': undefined },
  },
  {
    name: 'every change of a driver counts',
    ...driver({}),
    patch: { spec: { podInfoOnMount: true } },
    shows: { 'metadata.generation': 1 },
  },
  {
    name: 'attaching stays as it was',
    ...driver({}),
    patch: { spec: { attachRequired: false } },
    causes: ['Invalid spec.attachRequired'],
  },
  {
    name: 'updates of limits are at least 10 s apart',
    ...driver({ nodeAllocatableUpdatePeriodSeconds: 9 }),
    causes: ['Invalid spec.nodeAllocatableUpdatePeriodSeconds'],
  },
  {
    name: 'tokens in secrets need tokens',
    ...driver({ serviceAccountTokenInSecrets: false }),
    causes: ['Invalid spec.serviceAccountTokenInSecrets'],
  },
  { name: 'tokens outside of secrets warn', ...driver({ tokenRequests: [{ audience: 'a' }] }), warnings: 1 },
  {
    name: 'volume limits of a node may change',
    path: storage('csinodes'),
    body: { spec: { drivers: [{ name: 'd', nodeID: 'x', allocatable: { count: 1 } }] } },
    patch: { spec: { drivers: [{ name: 'd', nodeID: 'x', allocatable: { count: 2 } }] } },
  },
  {
    name: 'the node ID of a driver does not change',
    path: storage('csinodes'),
    body: { spec: { drivers: [{ name: 'd', nodeID: 'x' }] } },
    patch: { spec: { drivers: [{ name: 'd', nodeID: 'y' }] } },
    causes: ['Invalid spec.drivers'],
  },
  {
    name: 'error codes are not negative',
    path: storage('volumeattachments'),
    body: { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
    patch: { status: { detachError: { errorCode: -1 } } },
    subresource: '/status',
    causes: ['Invalid status.detachError.errorCode'],
  },
  {
    name: 'the provisioner of a class is immutable',
    path: storage('storageclasses'),
    body: { provisioner: 'a' },
    patch: { provisioner: 'b' },
    causes: ['Invalid provisioner'],
  },
  {
    name: 'a class of attributes needs parameters',
    path: storage('volumeattributesclasses'),
    body: { driverName: 'd' },
    causes: ['Required parameters'],
  },
  {
    name: 'a class of attributes does not change',
    path: storage('volumeattributesclasses'),
    body: { driverName: 'd', parameters: { a: 'b' } },
    patch: { parameters: { a: 'c' } },
    causes: ['Forbidden parameters'],
  },
]

const older: Row[] = [
  { name: 'a volume has no transition time', ...volume({}), shows: { 'status.lastPhaseTransitionTime': undefined } },
  {
    name: 'a missing driver has two causes',
    ...volume({ csi: { volumeHandle: 'h' } }),
    causes: ['Required spec.csi.driver', 'Invalid spec.csi.driver'],
  },
  {
    name: 'only some changes of a driver count',
    ...driver({}),
    patch: { spec: { storageCapacity: true } },
    shows: { 'metadata.generation': undefined },
  },
  {
    name: 'pod information on mount is immutable',
    ...driver({}),
    patch: { spec: { podInfoOnMount: true } },
    causes: ['Invalid spec.podInfoOnMount'],
  },
  {
    name: 'the provisioner of a class is immutable',
    path: storage('storageclasses'),
    body: { provisioner: 'a' },
    patch: { provisioner: 'b' },
    causes: ['Forbidden provisioner'],
  },
]

await testRows('1.36', newest)
await testRows('1.28', older)

/** Tests PersistentVolume: validation tables for its sources, updates, and requests to the server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { persistentVolume } from '../../../src/api/kinds/core/persistent-volume.ts'
import { sourceNames } from '../../../src/api/kinds/core/types/persistent-volume-spec.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { createBy, updateBy } from './rules.ts'

const base = { capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'] }
const nodeAffinity = required([{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }])
const nfs = { server: 's', path: '/exports' }
const iscsi = { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2020-01.org.example:disk' }
const csi = { driver: 'csi.example.org', volumeHandle: 'h' }
const secretRef = { name: 's', namespace: 'n' }

/** The minimal form of each source, and the defaults that the server adds. */
const good: { readonly [source: string]: readonly [sent: JsonObject, added?: JsonObject] } = {
  hostPath: [{ path: '/d' }, { type: '' }],
  gcePersistentDisk: [{ pdName: 'd' }],
  awsElasticBlockStore: [{ volumeID: 'v', partition: 255 }],
  glusterfs: [{ endpoints: 'e', path: 'p', endpointsNamespace: 'n' }],
  flocker: [{ datasetName: 'd' }],
  nfs: [nfs],
  rbd: [
    { monitors: ['m'], image: 'i' },
    { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  ],
  quobyte: [{ registry: 'host:1,[::1]:2', volume: 'v' }],
  cephfs: [{ monitors: ['m'] }],
  iscsi: [iscsi, { lun: 0, iscsiInterface: 'default' }],
  cinder: [{ volumeID: 'v', secretRef }],
  fc: [{ targetWWNs: ['w'], lun: 0 }],
  flexVolume: [{ driver: 'e/d', options: { 'example.org/a': 'b' } }],
  azureFile: [{ secretName: 's', shareName: 'h' }],
  vsphereVolume: [{ volumePath: 'p' }],
  photonPersistentDisk: [{ pdID: 'p' }],
  portworxVolume: [{ volumeID: 'v' }],
  azureDisk: [
    { diskName: 'd', diskURI: 'https://a/b' },
    { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
  ],
  scaleIO: [
    { gateway: 'g', system: 's', volumeName: 'v', secretRef },
    { storageMode: 'ThinProvisioned', fsType: 'xfs' },
  ],
  local: [{ path: '/d', fsType: '' }],
  storageos: [{ volumeName: 'v', secretRef }],
  csi: [csi],
}

test('every volume source is accepted in its minimal form and gets defaults', () => {
  assert.deepEqual(Object.keys(good), sourceNames)
  for (const [name, [sent, added]] of Object.entries(good)) {
    const { object, faults } = create({ [name]: sent, nodeAffinity })
    assert.deepEqual(faults, [], name)
    assert.deepEqual(specOf(object)[name], { ...sent, ...added })
  }
})

test('a volume must have exactly one source', () => {
  assert.deepEqual(create({}).faults, ['Required spec'])
  for (const name of sourceNames.slice(1)) {
    const two = create({ hostPath: { path: '/d' }, [name]: {} })
    assert.deepEqual(two.faults, [`Forbidden spec.${name}`])
  }
  assert.deepEqual(create({ nfs, csi: {}, fc: {} }).faults, ['Forbidden spec.csi', 'Forbidden spec.fc'])
})

/** Invalid sources with the expected errors. Paths are relative to the source. */
const bad: readonly (readonly [source: string, sent: JsonObject, faults: readonly string[]])[] = [
  ['hostPath', { type: 'Folder' }, ['Required path']],
  ['hostPath', { path: '../a', type: 'Folder' }, ['Invalid path', 'NotSupported type']],
  ['gcePersistentDisk', { partition: 256 }, ['Invalid partition', 'Required pdName']],
  ['awsElasticBlockStore', { partition: -1 }, ['Invalid partition', 'Required volumeID']],
  ['glusterfs', { endpointsNamespace: '' }, ['Invalid endpointsNamespace', 'Required endpoints', 'Required path']],
  ['flocker', {}, ['Required']],
  ['flocker', { datasetName: 'a/b', datasetUUID: 'u' }, ['Invalid', 'Invalid datasetName']],
  ['nfs', {}, ['Invalid path', 'Required path', 'Required server']],
  ['rbd', { monitors: [] }, ['Required image', 'Required monitors']],
  ['quobyte', {}, ['Required registry', 'Required volume']],
  ['quobyte', { registry: 'a:1,b', volume: 'v' }, ['Invalid registry']],
  ['quobyte', { registry: 'a:1', volume: 'v', tenant: 't'.repeat(65) }, ['Required tenant']],
  ['cephfs', {}, ['Required monitors']],
  ['iscsi', {}, ['Required iqn', 'Required targetPortal']],
  ['iscsi', { ...iscsi, iqn: 'eui.123', lun: 256 }, ['Invalid iqn', 'Invalid lun']],
  ['iscsi', { ...iscsi, initiatorName: '' }, ['Invalid initiatorname']],
  [
    'iscsi',
    { ...iscsi, initiatorName: `naa.${'0'.repeat(32)}`, targetPortal: 'p'.repeat(70) },
    ['Invalid targetportal'],
  ],
  ['iscsi', { ...iscsi, chapAuthSession: true }, ['Required secretRef']],
  ['iscsi', { ...iscsi, secretRef: {} }, ['Required secretRef.name']],
  ['cinder', { secretRef: {} }, ['Required secretRef.name', 'Required secretRef.namespace', 'Required volumeID']],
  ['fc', {}, ['Required targetWWNs']],
  ['fc', { targetWWNs: ['w'], wwids: ['i'] }, ['Invalid targetWWNs', 'Required lun']],
  ['fc', { targetWWNs: ['w'], lun: 256 }, ['Invalid lun']],
  ['flexVolume', { options: { 'A.ORCH.io/x': '' } }, ['Invalid options[A.ORCH.io/x]', 'Required driver']],
  ['azureFile', { secretNamespace: '' }, ['Required secretName', 'Required secretNamespace', 'Required shareName']],
  ['vsphereVolume', {}, ['Required volumePath']],
  ['photonPersistentDisk', {}, ['Required pdID']],
  ['portworxVolume', {}, ['Required volumeID']],
  ['azureDisk', {}, ['NotSupported diskURI', 'Required diskName', 'Required diskURI']],
  ['azureDisk', { diskName: 'd', diskURI: 'https://x', kind: 'Managed' }, ['NotSupported diskURI']],
  ['azureDisk', { diskName: 'd', diskURI: 'https://x', cachingMode: '' }, ['NotSupported cachingMode']],
  ['scaleIO', {}, ['Required gateway', 'Required system', 'Required volumeName']],
  ['local', { path: 'a/..' }, ['Invalid path']],
  ['storageos', { volumeNamespace: 'A' }, ['Invalid volumeNamespace', 'Required volumeName']],
  ['storageos', { volumeName: 'v', secretRef: {} }, ['Required secretRef.name', 'Required secretRef.namespace']],
  ['csi', {}, ['Invalid driver', 'Required driver', 'Required volumeHandle']],
  ['csi', { ...csi, driver: 'd'.repeat(64) }, ['TooLong driver']],
  ['csi', { ...csi, nodePublishSecretRef: { name: 'a' } }, ['Required nodePublishSecretRef.namespace']],
  [
    'csi',
    { ...csi, controllerExpandSecretRef: { name: 'a.b', namespace: 'N' } },
    ['Invalid controllerExpandSecretRef.name', 'Invalid namespace'],
  ],
]

test('invalid volume sources are rejected', () => {
  for (const [name, sent, faults] of bad) {
    const expected = faults.map((fault) =>
      fault.replace(/^(\w+) ?/, (_, kind) => `${kind} spec.${name}${fault.includes(' ') ? '.' : ''}`),
    )
    assert.deepEqual(create({ [name]: sent, nodeAffinity }).faults, expected, `${name} ${JSON.stringify(sent)}`)
  }
})

test('a volume with an invalid capacity, access mode, reclaim policy or class is rejected', () => {
  const faultsOf = (spec: JsonObject) => create({ nfs, ...spec }).faults
  assert.deepEqual(faultsOf({ capacity: {} }), ['NotSupported spec.capacity', 'Required spec.capacity'])
  assert.deepEqual(faultsOf({ capacity: { storage: '1', cpu: '0' } }), [
    'Invalid spec.capacity[cpu]',
    'NotSupported spec.capacity',
  ])
  assert.deepEqual(faultsOf({ capacity: { storage: '-1n' } }), ['Invalid spec.capacity[storage]'])
  assert.deepEqual(faultsOf({ accessModes: [] }), ['Required spec.accessModes'])
  assert.deepEqual(faultsOf({ accessModes: ['ReadWriteOnce', ''] }), ['NotSupported spec.accessModes'])
  assert.deepEqual(faultsOf({ accessModes: ['ReadWriteOncePod'] }), ['NotSupported spec.accessModes'])
  assert.deepEqual(faultsOf({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }), [
    'Forbidden spec.accessModes',
    'NotSupported spec.accessModes',
  ])
  assert.deepEqual(faultsOf({ persistentVolumeReclaimPolicy: 'retain' }), [
    'NotSupported spec.persistentVolumeReclaimPolicy',
  ])
  assert.deepEqual(faultsOf({ storageClassName: 'A' }), ['Invalid spec.storageClassName'])
  assert.deepEqual(faultsOf({ volumeMode: '' }), ['NotSupported spec.volumeMode'])
  const root = { hostPath: { path: '/a/./..//' }, persistentVolumeReclaimPolicy: 'Recycle' }
  assert.deepEqual(
    create(root).faults,
    ['Invalid spec.hostPath.path', 'Forbidden spec.persistentVolumeReclaimPolicy'].sort(),
  )
  assert.deepEqual(create({ local: { path: '/d' } }).faults, ['Required spec.nodeAffinity'])
})

test('the capacity of a volume is rounded up to thousandths', () => {
  assert.deepEqual(specOf(create({ nfs, capacity: { storage: '1.0001' } }).object).capacity, { storage: '1001m' })
  assert.deepEqual(specOf(create({ nfs, capacity: { storage: '2048Mi' } }).object).capacity, { storage: '2Gi' })
})

test('a volume with invalid node affinity terms is rejected', () => {
  const path = 'spec.nodeAffinity.required'
  const faultsOf = (affinity: JsonObject) =>
    create({ nfs, nodeAffinity: affinity }).faults.map((fault) => fault.replace(`${path}.nodeSelectorTerms[0]`, '~'))
  const expression = (item: JsonObject) => faultsOf(required([{ matchExpressions: [item] }]))
  const named = (item: JsonObject) => faultsOf(required([{ matchFields: [{ key: 'metadata.name', ...item }] }]))
  assert.deepEqual(faultsOf({}), [`Required ${path}`])
  assert.deepEqual(faultsOf(required([])), [`Required ${path}.nodeSelectorTerms`])
  assert.deepEqual(faultsOf(required([{}])), [])
  assert.deepEqual(expression({}), ['Invalid ~.matchExpressions[0].key', 'Invalid ~.matchExpressions[0].operator'])
  assert.deepEqual(expression({ key: 'a', operator: 'NotIn' }), ['Required ~.matchExpressions[0].values'])
  assert.deepEqual(expression({ key: 'a', operator: 'DoesNotExist', values: ['x'] }), [
    'Forbidden ~.matchExpressions[0].values',
  ])
  assert.deepEqual(expression({ key: 'a', operator: 'Lt', values: [] }), ['Required ~.matchExpressions[0].values'])
  assert.deepEqual(expression({ key: 'a', operator: 'Gt', values: ['1'] }), [])
  assert.deepEqual(named({ operator: 'Gt', values: ['n'] }), ['Invalid ~.matchFields[0].operator'])
  assert.deepEqual(named({ operator: 'In', values: ['a', 'b'] }), ['Required ~.matchFields[0].values'])
  assert.deepEqual(named({ operator: 'In', values: ['A'] }), ['Invalid ~.matchFields[0].values[0]'])
  assert.deepEqual(named({ key: 'spec.x', operator: 'In', values: ['a'] }), ['Invalid ~.matchFields[0].key'])
})

test('the mount options annotation is accepted only for volume sources older than the mountOptions field', () => {
  const annotations = { 'volume.beta.orch.io/mount-options': 'ro' }
  const faultsOf = (spec: JsonObject) =>
    createBy(persistentVolume, volume({ ...base, ...spec }, { annotations })).faults
  assert.deepEqual(faultsOf({ nfs }), [])
  assert.deepEqual(faultsOf({ csi }), ['Forbidden metadata.annotations.volume.beta.orch.io/mount-options'])
})

test('the source, the volume mode and the node affinity of a volume are immutable', () => {
  const secret = { controllerExpandSecretRef: secretRef }
  const cases: readonly (readonly [from: JsonObject, to: JsonObject, faults: readonly string[]])[] = [
    [{ nfs }, { nfs, capacity: { storage: '1' }, accessModes: ['ReadOnlyMany'], mountOptions: ['x'] }, []],
    [{ nfs, claimRef: { name: 'a' }, storageClassName: 'a' }, { nfs, claimRef: { name: 'b' } }, []],
    [{ nfs }, { nfs: { ...nfs, readOnly: false } }, []],
    [{ nfs }, { nfs: { ...nfs, readOnly: true } }, ['Forbidden spec']],
    [{ nfs }, { hostPath: { path: '/d' } }, ['Forbidden spec']],
    [{ csi }, { csi: { ...csi, ...secret } }, []],
    [{ csi }, { csi: { ...csi, ...secret, fsType: 'x' } }, ['Forbidden spec']],
    [{ csi: { ...csi, ...secret } }, { csi: { ...csi, ...secret }, mountOptions: ['x'] }, []],
    [{ csi: { ...csi, ...secret } }, { csi }, ['Forbidden spec']],
    [
      { csi: { ...csi, ...secret } },
      { csi: { ...csi, controllerExpandSecretRef: { name: 't', namespace: 'n' } } },
      ['Forbidden spec'],
    ],
    [{ nfs }, { nfs, volumeMode: 'Block' }, ['Invalid spec.volumeMode']],
    [{ nfs }, { nfs, nodeAffinity }, []],
    [{ nfs, nodeAffinity }, { nfs }, ['Invalid spec.nodeAffinity']],
    [{ nfs, nodeAffinity }, { nfs, nodeAffinity: required([{}]) }, ['Invalid spec.nodeAffinity']],
  ]
  for (const [from, to, faults] of cases) {
    const previous = create(from)
    assert.deepEqual(previous.faults, [])
    const next = updateBy(persistentVolume, previous.object, volume({ ...base, ...to }))
    assert.deepEqual(next.faults, faults, JSON.stringify(to))
  }
})

test('a volume can be created, updated, listed and deleted', async (t) => {
  const client = (await serve(t)).client()
  const path = '/api/v1/persistentvolumes'
  const sent = { ...volume({ ...base, nfs, claimRef: { namespace: 'n', name: 'c' } }), status: { phase: 'Bound' } }
  const created = await client.post(path, sent)
  assert.deepEqual([created.status, created.body.status], [201, { phase: 'Pending' }])
  const { persistentVolumeReclaimPolicy, volumeMode } = created.body.spec
  assert.deepEqual([persistentVolumeReclaimPolicy, volumeMode], ['Retain', 'Filesystem'])

  const written = await client.put(`${path}/v/status`, { ...volume({}), status: { phase: 'Bound', reason: 'Why' } })
  assert.deepEqual([written.status, written.body.spec], [200, created.body.spec])
  const replaced = await client.put(`${path}/v`, volume({ ...base, nfs, storageClassName: 'slow' }))
  assert.deepEqual([replaced.status, replaced.body.status], [200, { phase: 'Bound', reason: 'Why' }])
  const moved = await client.put(`${path}/v`, volume({ ...base, nfs: { ...nfs, path: '/other' } }))
  assert.deepEqual([moved.status, moved.body.details.causes.length], [422, 1])
  assert.equal((await client.post(path, volume({ ...base, nfs, capacity: { storage: '1GB' } }))).status, 400)

  const beta = { 'volume.beta.orch.io/storage-class': 'fast' }
  const modes = ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteMany']
  await client.put(
    `${path}/v`,
    volume({ ...base, nfs, accessModes: modes, claimRef: { namespace: 'n', name: 'c' } }, { annotations: beta }),
  )
  const table = await client.get(path, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  const [name, , ...cells] = table.body.rows[0].cells
  assert.deepEqual([name, ...cells.slice(0, 6)], ['v', 'RWO,RWX', 'Retain', 'Bound', 'n/c', 'fast', 'Why'])
  assert.deepEqual([table.body.rows[0].cells[1], cells.at(-1)], ['5Gi', 'Filesystem'])

  assert.equal((await client.get(`${path}?fieldSelector=metadata.name=v`)).body.items.length, 1)
  assert.equal((await client.get(`${path}?fieldSelector=status.phase=Bound`)).status, 400)
  const deleted = await client.delete(`${path}/v`)
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'PersistentVolume'])
})

function create(spec: JsonObject) {
  return createBy(persistentVolume, volume({ ...base, ...spec }))
}

function volume(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v', ...metadata }, spec }
}

function required(nodeSelectorTerms: JsonObject[]): JsonObject {
  return { required: { nodeSelectorTerms } }
}

function specOf(object: Parameters<typeof asJson>[0]): JsonObject {
  return asJson(object).spec as JsonObject
}

test('a volume whose capacity does not fit in 64 bits is rejected', () => {
  const faults = (storage: string) =>
    createBy(persistentVolume, { metadata: { name: 'v' }, spec: { ...base, nfs, capacity: { storage } } }).faults
  assert.deepEqual(faults('12345678901234567890'), ['Invalid spec.capacity[storage]'])
  assert.deepEqual(faults('9223372036854775807'), [])
  // Kubernetes accepts a value whose large suffix makes it exceed 64 bits, and treats the value as zero bytes.
  for (const storage of ['12E', '100P', '1e30']) assert.deepEqual(faults(storage), [], storage)
  assert.deepEqual(faults('-12E'), ['Invalid spec.capacity[storage]'])
})

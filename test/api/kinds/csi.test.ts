/** Tests CSIDriver, CSINode and CSIStorageCapacity: defaults, validation, immutable fields, and tables. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { csiDriver } from '../../../src/api/kinds/storage/csi-driver.ts'
import { csiNode } from '../../../src/api/kinds/storage/csi-node.ts'
import { csiStorageCapacity } from '../../../src/api/kinds/storage/csi-storage-capacity.ts'
import { asJson } from '../../../src/api/model/object.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import { serve } from '../../support/in-process.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const defaults = {
  attachRequired: true,
  podInfoOnMount: false,
  volumeLifecycleModes: ['Persistent'],
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  requiresRepublish: false,
}

test('CSIDriver: missing fields get defaults even if the spec is missing', () => {
  for (const sent of [named({}), named({ spec: { volumeLifecycleModes: [] } })]) {
    const { object, faults } = createBy(csiDriver, sent)
    assert.deepEqual([faults, asJson(object).spec], [[], defaults])
  }
})

test('CSIDriver: invalid fields are rejected', () => {
  const life = 'spec.tokenRequests[0].expirationSeconds'
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    [{ fsGroupPolicy: '' }, ['NotSupported spec.fsGroupPolicy']],
    [{ volumeLifecycleModes: ['Ephemeral', 'Ephemeral'] }, []],
    [{ volumeLifecycleModes: ['Persistent', 'Forever'] }, ['NotSupported spec.volumeLifecycleModes']],
    [{ tokenRequests: [{}, { audience: '' }] }, ['Duplicate spec.tokenRequests[1].audience']],
    [{ tokenRequests: [{ expirationSeconds: 600 }, { audience: 'a', expirationSeconds: 2 ** 32 }] }, []],
    [{ tokenRequests: [{ expirationSeconds: 599 }] }, [`Invalid ${life}`]],
    [{ tokenRequests: [{ expirationSeconds: 2 ** 32 + 1 }] }, [`Invalid ${life}`]],
  ]
  expectFaults(csiDriver, cases)
})

test('CSIDriver: some settings are immutable, and only changes that affect nodes increment the generation', () => {
  const { object } = createBy(csiDriver, named({}))
  const update = (spec: JsonObject) => updateBy(csiDriver, object, named({ spec }))
  for (const [name, value] of Object.entries({
    attachRequired: false,
    podInfoOnMount: true,
    fsGroupPolicy: 'None',
    volumeLifecycleModes: ['Ephemeral'],
  }))
    assert.deepEqual(update({ [name]: value }).faults, [`Invalid spec.${name}`])
  const counted = (spec: JsonObject) => {
    const { faults, object } = update(spec)
    return [faults, object.metadata.generation]
  }
  assert.deepEqual(counted({}), [[], undefined])
  assert.deepEqual(counted({ storageCapacity: true }), [[], undefined])
  assert.deepEqual(counted({ requiresRepublish: true }), [[], 1])
  assert.deepEqual(counted({ tokenRequests: [{ audience: 'a' }] }), [[], 1])
})

test('CSIDriver: the table shows the driver settings', () => {
  const shown = (spec: JsonObject) => cellsOf(csiDriver, createBy(csiDriver, named({ spec })).object).slice(1, 7)
  assert.deepEqual(shown({}), [true, false, false, '<unset>', false, 'Persistent'])
  const tokenRequests = [{ audience: 'x' }, { audience: 'y' }]
  assert.deepEqual(shown({ tokenRequests, volumeLifecycleModes: ['Persistent', 'Ephemeral'] }), [
    true,
    false,
    false,
    'x,y',
    false,
    'Persistent,Ephemeral',
  ])
})

test('CSINode: invalid fields are rejected', () => {
  const driver = (more: JsonObject) => ({ drivers: [{ name: 'a', nodeID: 'n', ...more }] })
  const first = 'spec.drivers[0]'
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    [{}, []],
    [driver({ name: 'Upper', topologyKeys: ['e.com/a', 'b'], allocatable: { count: 0 } }), []],
    [driver({ name: '', nodeID: '' }), [`Invalid ${first}.name`, `Required ${first}.name`, `Required ${first}.nodeID`]],
    [driver({ name: 'a'.repeat(64) }), [`TooLong ${first}.name`]],
    [driver({ nodeID: 'i'.repeat(256) }), []],
    [driver({ nodeID: 'i'.repeat(257) }), [`Invalid ${first}.nodeID`]],
    [driver({ topologyKeys: ['x', 'x', 'a b'] }), [`Duplicate ${first}`, `Invalid ${first}`]],
    [driver({ topologyKeys: [''] }), [`Invalid ${first}`, `Required ${first}`]],
    [driver({ allocatable: { count: -1 } }), [`Invalid ${first}.allocatable.count`]],
    [
      {
        drivers: [
          { name: 'a', nodeID: 'n' },
          { name: 'a', nodeID: 'm' },
        ],
      },
      ['Duplicate spec.drivers[1].name'],
    ],
  ]
  expectFaults(csiNode, cases)
})

test('CSINode: drivers can be added and removed but not changed', () => {
  const drivers = [
    { name: 'a', nodeID: 'n' },
    { name: 'b', nodeID: 'n' },
  ]
  const { object } = createBy(csiNode, named({ spec: { drivers } }))
  const faultsOf = (next: JsonObject[]) => updateBy(csiNode, object, named({ spec: { drivers: next } })).faults
  assert.deepEqual(faultsOf([]), [])
  assert.deepEqual(faultsOf([drivers[1]!, { name: 'c', nodeID: 'n' }, drivers[0]!]), [])
  assert.deepEqual(faultsOf([drivers[0]!, { name: 'b', nodeID: 'm' }]), ['Invalid spec.drivers[1]'])
  assert.deepEqual(cellsOf(csiNode, object).slice(0, 2), ['x', 2])
})

test('CSIStorageCapacity: invalid classes and capacities are rejected', () => {
  const faultsOf = (sent: JsonObject) => createBy(csiStorageCapacity, named(sent)).faults
  assert.deepEqual(faultsOf({}), ['Invalid storageClassName'])
  assert.deepEqual(faultsOf({ storageClassName: 'fast', capacity: '0', maximumVolumeSize: '-1' }), [])
  assert.deepEqual(faultsOf({ storageClassName: 'A', capacity: '-1' }), [
    'Invalid capacity',
    'Invalid storageClassName',
  ])
  const nodeTopology = { matchExpressions: [{ key: 'a', operator: 'Near' }] }
  assert.deepEqual(faultsOf({ storageClassName: 'a', nodeTopology }), [
    'Invalid nodeTopology.matchExpressions[0].operator',
  ])
})

test('CSIStorageCapacity: the capacity is mutable, but the storage class and the topology are immutable', () => {
  const sent = { storageClassName: 'a', nodeTopology: { matchLabels: { b: 'c' } }, capacity: '1024Gi' }
  const { object } = createBy(csiStorageCapacity, named(sent))
  assert.equal(asJson(object).capacity, '1Ti')
  const faultsOf = (change: JsonObject) => updateBy(csiStorageCapacity, object, named({ ...sent, ...change })).faults
  assert.deepEqual(faultsOf({ capacity: '2', maximumVolumeSize: '1' }), [])
  assert.deepEqual(faultsOf({ storageClassName: 'b', nodeTopology: {} }), [
    'Invalid nodeTopology',
    'Invalid storageClassName',
  ])
  assert.deepEqual(faultsOf({ nodeTopology: null }), ['Invalid nodeTopology'])
})

function named(sent: JsonObject): JsonObject {
  return { metadata: { name: 'x' }, ...sent }
}

function expectFaults(kind: Kind, cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[]): void {
  for (const [spec, faults] of cases)
    assert.deepEqual(createBy(kind, named({ spec })).faults, faults, JSON.stringify(spec).slice(0, 200))
}

test('a client that sends an empty list owns the list, and a client that omits the list owns nothing', async (t) => {
  const client = (await serve(t)).client()
  const path = '/apis/storage.orch.io/v1/csinodes'
  const owned = async (name: string, spec: JsonObject) =>
    (await client.post(path, { metadata: { name }, spec })).body.metadata.managedFields?.[0].fieldsV1
  assert.deepEqual(await owned('sent', { drivers: [] }), { 'f:spec': { 'f:drivers': {} } })
  for (const [name, spec] of [
    ['unsent', {}],
    ['null', { drivers: null }],
  ] as const)
    assert.equal(await owned(name, spec), undefined)
  const node = { apiVersion: 'storage.orch.io/v1', kind: 'CSINode', metadata: { name: 'unsent' } }
  const applied = await client.send(`${path}/unsent?fieldManager=m`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: { ...node, spec: { drivers: [{ name: 'a.b', nodeID: 'n' }] } },
  })
  assert.equal(applied.status, 200, applied.text)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = { spec: { drivers: [{ name: 'a.b', nodeID: 'n' }] } }
  const patched = await client.send(`${path}/sent`, { method: 'PATCH', headers, body })
  assert.ok(patched.body.metadata.managedFields[0].fieldsV1['f:spec']['f:drivers']['k:{"name":"a.b"}'])
})

test('a duplicate audience in the token requests of a CSIDriver causes exactly one error', () => {
  const tokenRequests = [{ audience: 'a' }, { audience: 'a', expirationSeconds: 1 }]
  assert.deepEqual(createBy(csiDriver, { metadata: { name: 'd' }, spec: { tokenRequests } }).faults, [
    'Duplicate spec.tokenRequests[1].audience',
  ])
})

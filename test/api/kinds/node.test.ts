/** Tests Node: taints, pod address ranges, immutable fields, status and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { node } from '../../../src/api/kinds/core/node.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { createBy, updateBy } from './rules.ts'

const sent = (spec: JsonObject, more: JsonObject = {}) => ({ metadata: { name: 'n' }, spec, ...more })
const create = (spec: JsonObject, more: JsonObject = {}) => createBy(node, sent(spec, more))

test('the podCIDR of a node always equals the first entry of podCIDRs', () => {
  const cases: readonly (readonly [sent: JsonObject, podCIDRs: string[]])[] = [
    [{ podCIDR: '10.0.0.0/24' }, ['10.0.0.0/24']],
    [{ podCIDRs: ['fd00::/64', '10.0.0.0/8'] }, ['fd00::/64', '10.0.0.0/8']],
    [{ podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.1.0/24'] }, ['10.0.0.0/24']],
  ]
  for (const [spec, podCIDRs] of cases) {
    const { object, faults } = create(spec)
    assert.deepEqual([asJson(object).spec, faults], [{ podCIDR: podCIDRs[0], podCIDRs }, []])
  }
})

const bad: readonly (readonly [spec: JsonObject, ...faults: string[]])[] = [
  [{ taints: [{ effect: 'NoSchedule' }] }, 'Invalid metadata.taints[0].key'],
  [{ taints: [{ key: 'k' }] }, 'Required metadata.taints[0].effect'],
  [{ taints: [{ key: 'k', effect: 'Never' }] }, 'NotSupported metadata.taints[0].effect'],
  [{ taints: [{ key: 'k', value: 'a b', effect: 'NoExecute' }] }, 'Invalid metadata.taints[0].value'],
  [
    {
      taints: [
        { key: 'k', effect: 'NoExecute' },
        { key: 'k', value: 'v', effect: 'NoExecute' },
      ],
    },
    'Duplicate metadata.taints[1]',
  ],
  [{ podCIDR: '10.0.0.0' }, 'Invalid spec.podCIDRs[0]'],
  [{ podCIDRs: ['10.0.0.0/33'] }, 'Invalid spec.podCIDRs[0]'],
  [{ podCIDRs: ['010.0.0.0/024'] }],
  [{ podCIDRs: ['10.0.0.0/24', '10.0.0.0/24'] }, 'Duplicate spec.podCIDRs[1]', 'Invalid spec.podCIDRs'],
  [{ podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] }, 'Invalid spec.podCIDRs'],
  [{ podCIDRs: ['10.0.0.0/24', 'fd00::/64', 'fd01::/64'] }, 'Invalid spec.podCIDRs'],
  [
    { podCIDRs: ['10.0.0.0/24', 'x'] },
    'InternalError spec.podCIDRs',
    'Invalid spec.podCIDRs',
    'Invalid spec.podCIDRs[1]',
  ],
]

test('nodes with invalid taints, pod CIDRs or quantities are rejected', () => {
  for (const [spec, ...faults] of bad) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
  const twice = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: 'k', effect }))
  assert.deepEqual(create({ taints: twice }).faults, [])
  const status = { capacity: { cpu: '-1', 'example.com/gpu': '1500m', memory: '1500m' }, allocatable: { pods: '0.5' } }
  assert.deepEqual(create({}, { status }).faults, [
    'Invalid status.allocatable.pods',
    'Invalid status.capacity.cpu',
    'Invalid status.capacity.example.com/gpu',
  ])
})

test('a node with an extended resource that exceeds 64 bits is rejected', () => {
  const faultsOf = (amount: string) => {
    const status = { capacity: { 'example.com/gpu': amount, memory: amount } }
    return create({}, { status }).faults
  }
  const both = ['Invalid status.allocatable.example.com/gpu', 'Invalid status.capacity.example.com/gpu']
  for (const amount of ['10000000000000000000', '99999999999999999999'])
    assert.deepEqual(faultsOf(amount), both, amount)
  assert.deepEqual(faultsOf('9223372036854775'), [])
})

test('the preferAvoidPods annotation of a node must be valid JSON that names controllers', () => {
  const key = 'scheduler.alpha.orch.io/preferAvoidPods'
  const faultsOf = (text: string) => createBy(node, { metadata: { name: 'n', annotations: { [key]: text } } }).faults
  const entry = (podController: object) => JSON.stringify({ preferAvoidPods: [{ podSignature: { podController } }] })
  assert.deepEqual(faultsOf('{not'), ['Invalid metadata.annotations.AvoidPods'])
  assert.deepEqual(faultsOf('{"preferAvoidPods":7}'), ['Invalid metadata.annotations.AvoidPods'])
  const place = `metadata.annotations.${key}[0].PodSignature`
  assert.deepEqual(faultsOf('{"preferAvoidPods":[{}]}'), [`Required ${place}`])
  assert.deepEqual(faultsOf(entry({ controller: false })), [`Invalid ${place}.PodController.Controller`])
  assert.deepEqual([...faultsOf(entry({ controller: true })), ...faultsOf('{}'), ...faultsOf('')], [])
})

test('the pod CIDRs and the provider ID of a node are immutable once they are set', () => {
  const before = create({}).object
  const ranges = { podCIDRs: ['10.0.0.0/24'], providerID: 'c://1' }
  assert.deepEqual(updateBy(node, before, sent(ranges)).faults, [])
  assert.deepEqual(updateBy(node, before, sent({ externalID: 'e' })).faults, ['Forbidden spec.externalID'])
  const after = create(ranges).object
  assert.deepEqual(updateBy(node, after, sent({ ...ranges, unschedulable: true, taints: [] })).faults, [])
  for (const podCIDRs of [[], ['10.0.1.0/24'], ['10.0.0.0/24', 'fd00::/64']])
    assert.deepEqual(updateBy(node, after, sent({ ...ranges, podCIDRs })).faults, ['Forbidden spec.podCIDRs'])
  assert.deepEqual(updateBy(node, after, sent({ ...ranges, providerID: 'c://2' })).faults, [
    'Forbidden spec.providerID',
  ])
  const address = { type: 'InternalIP', address: '10.0.0.1' }
  const status = { addresses: [address, { ...address, type: 'ExternalIP' }, address] }
  const reportedFaults = updateBy(node, after, sent(ranges, { status }), { subresource: 'status' }).faults
  assert.deepEqual(reportedFaults, ['Duplicate status.addresses[2]'])
})

test('the dynamic kubelet configuration of a node is dropped', () => {
  const configSource = { configMap: { name: 'c', namespace: 'n', kubeletConfigKey: 'k' } }
  const status = { config: { assigned: configSource } }
  const { object } = create({ configSource }, { status })
  assert.deepEqual([asJson(object).spec, 'config' in (object.status as object)], [{}, false])
  assert.deepEqual(asJson(updateBy(node, object, sent({ configSource })).object).spec, {})
  const reported = updateBy(node, object, sent({}, { status }), { subresource: 'status' }).object
  assert.equal('config' in (reported.status as object), false)
})

test('a node can be created, updated, selected, listed and deleted', async (t) => {
  const client = (await serve(t)).client()
  const path = '/api/v1/nodes'
  const addresses = [
    { type: 'Hostname', address: 'h' },
    { type: 'InternalIP', address: '10.0.0.9' },
  ]
  const made = await client.post(path, sent({ podCIDR: '10.0.0.0/24' }, { status: { phase: 'Running', addresses } }))
  assert.deepEqual(
    [made.status, made.body.status.addresses, made.body.metadata.generation],
    [201, addresses, undefined],
  )
  assert.deepEqual(made.body.status.daemonEndpoints, { kubeletEndpoint: { Port: 0 } })
  assert.equal(made.body.status.nodeInfo.architecture, '')

  const conditions = [{ type: 'Ready', status: 'False' }]
  const nodeInfo = { osImage: 'Linux', kubeletVersion: 'v1' }
  const written = await client.put(`${path}/n/status`, sent({}, { status: { conditions, nodeInfo } }))
  assert.deepEqual([written.status, written.body.spec], [200, made.body.spec])
  const labels = { 'node-role.orch.io/worker': '', 'orch.io/role': 'extra' }
  const kept = await client.put(`${path}/n`, {
    metadata: { name: 'n', labels },
    spec: { ...made.body.spec, unschedulable: true },
    status: {},
  })
  assert.deepEqual(kept.body.status, written.body.status)

  const table = await client.get(`${path}/n`, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  const [name, status, roles, , ...rest] = table.body.rows[0].cells
  assert.deepEqual([name, status, roles], ['n', 'NotReady,SchedulingDisabled', 'extra,worker'])
  assert.deepEqual(rest, ['v1', '<none>', '<none>', 'Linux', '<unknown>', '<unknown>'])
  const selected = async (query: string) => (await client.get(`${path}?fieldSelector=${query}`)).body.items?.length
  assert.deepEqual([await selected('spec.unschedulable=true'), await selected('spec.unschedulable=false')], [1, 0])
  assert.equal((await client.get(`${path}?fieldSelector=spec.podCIDR=x`)).status, 400)
  assert.equal((await client.put(`${path}/none`, { metadata: { name: 'none' } })).status, 404)
  const full = sent({}, { status: { conditions, nodeInfo, capacity: { cpu: '2' }, allocatable: {} } })
  const emptied = await client.put(`${path}/n/status`, full)
  assert.deepEqual([emptied.body.status.capacity, emptied.body.status.allocatable], [{ cpu: '2' }, undefined])
  assert.equal((await client.get(`${path}/n`)).body.status.allocatable, undefined)
  const deleted = await client.delete(`${path}/n`)
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'Status'])
})

test('the allocatable resources of a node default to the capacity', () => {
  const statusOf = (status: JsonObject) => asJson(create({}, { status }).object).status as JsonObject
  const capacity = { cpu: '2', storage: '0.0001' }
  assert.deepEqual(statusOf({ capacity }).allocatable, { cpu: '2', storage: '1m' })
  assert.deepEqual(statusOf({ capacity, allocatable: { cpu: '1' } }).allocatable, { cpu: '1' })
  assert.equal(statusOf({}).allocatable, undefined)
  assert.deepEqual(statusOf({ capacity, allocatable: null }).allocatable, { cpu: '2', storage: '1m' })
  assert.equal(statusOf({ capacity, allocatable: {} }).allocatable, undefined)
})
